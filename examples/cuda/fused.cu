// Forward dynamics and the end effectors' poses in one kernel, and only a cost to write.
//
// Of each problem, with its state and joint forces in an input block:
//
//     cost = sum over end effectors of |position - goal|^2 + weight * |qdd|^2
//
// as a sampler of motions wants it. Two kernels of the header's would write every acceleration and
// pose to memory for a third to read; here they stay in the thread's registers.
//
// Any robot: grid.cuh is generated first, see README.md beside this file.
#include "grid.cuh"

using grid::real;

extern "C" __global__ void fused_cost(real* cost, const real* d_q_qd_u, const real* goal, const real weight, const int problems)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= problems) return;
    const real* block = d_q_qd_u + (long long)k * grid::Q_QD_U_STRIDE;
    const real* q = &block[grid::GRID_Q_OFFSET];
    const real* qd = &block[grid::GRID_QD_OFFSET];
    const real* u = &block[grid::GRID_U_OFFSET];

    real qdd[grid::NUM_VEL];
    grid::forward_dynamics_thread(qdd, q, qd, u);
    real pose[6 * grid::NUM_EES];
    grid::end_effector_pose_thread(pose, q);

    real effort = 0, distance = 0;
    for (int i = 0; i < grid::NUM_VEL; ++i) effort += qdd[i] * qdd[i];
    for (int e = 0; e < grid::NUM_EES; ++e)
        for (int i = 0; i < 3; ++i) {
            const real away = pose[6 * e + i] - goal[i];
            distance += away * away;
        }
    cost[k] = distance + weight * effort;
}

#if defined(GRID_HAS_RUNTIME)
#include <cmath>
#include <cstdio>
#include <random>

// Fills the blocks of a batch: joints about zero, quaternions at the identity, pads at zero.
static void fill(real* blocks, const int problems)
{
    std::mt19937 generator(0);
    std::uniform_real_distribution<real> draw(-1, 1);
    for (int k = 0; k < problems; ++k) {
        real* block = blocks + std::size_t(k) * grid::Q_QD_U_STRIDE;
        for (int i = 0; i < grid::NUM_POS; ++i) block[grid::GRID_Q_OFFSET + i] = draw(generator);
        for (int i = 0; i < grid::NUM_VEL; ++i) block[grid::GRID_QD_OFFSET + i] = draw(generator);
        for (int i = 0; i < grid::NUM_VEL; ++i) block[grid::GRID_U_OFFSET + i] = draw(generator);
        for (int id = 0; id < grid::model::nj; ++id) {
            grid::model::joint_record joint;
            grid::model::joint(id, joint);
            if (joint.q_start < 0 || joint.local_nq == joint.local_nv) continue;
            real* end = block + grid::GRID_Q_OFFSET + joint.q_start + joint.local_nq;
            for (int i = 1; i <= 4; ++i) end[-i] = i == 1 ? real(1) : real(0);  // xyzw
        }
    }
}

static int compare()
{
    const int problems = 1000, threads = 128;
    const real goal[3] = {real(0.4), real(0.1), real(0.3)}, weight = real(1e-3);
    grid::gridData<real>* data = grid::init_gridData<real>(problems);
    fill(data->h_q_qd_u, problems);

    // The header's own entries, for comparison; they leave the blocks on the device.
    grid::forward_dynamics(data, problems);
    grid::end_effector_pose(data, problems);

    real *d_cost, *d_goal, *cost = new real[problems];
    grid::check(cudaMalloc((void**)&d_cost, problems * sizeof(real)), "d_cost");
    grid::check(cudaMalloc((void**)&d_goal, sizeof(goal)), "d_goal");
    grid::check(cudaMemcpyAsync(d_goal, goal, sizeof(goal), cudaMemcpyHostToDevice, 0), "goal");
    fused_cost<<<(problems + threads - 1) / threads, threads>>>(d_cost, data->d_q_qd_u, d_goal, weight, problems);
    grid::check(cudaGetLastError(), "fused_cost");
    grid::check(cudaMemcpyAsync(cost, d_cost, problems * sizeof(real), cudaMemcpyDeviceToHost, 0), "cost");
    grid::check(cudaStreamSynchronize(0), "fused_cost");

    double worst = 0;
    for (int k = 0; k < problems; ++k) {
        double expected = 0;
        for (int i = 0; i < grid::NUM_VEL; ++i) {
            const double a = data->h_forward_dynamics[k * grid::NUM_VEL + i];
            expected += double(weight) * a * a;
        }
        for (int e = 0; e < grid::NUM_EES; ++e)
            for (int i = 0; i < 3; ++i) {
                const double away = data->h_end_effector_pose[6 * (k * grid::NUM_EES + e) + i] - double(goal[i]);
                expected += away * away;
            }
        worst = std::fmax(worst, std::fabs(cost[k] - expected) / expected);
    }
    std::printf("%d problems, worst relative difference: %.1e\n", problems, worst);

    delete[] cost;
    grid::check(cudaFree(d_cost), "d_cost");
    grid::check(cudaFree(d_goal), "d_goal");
    grid::free_gridData(data);
    return worst < 1e-3 ? 0 : 1;
}

int main()
{
    try {
        return compare();
    } catch (const grid::error& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 2;
    }
}
#endif
