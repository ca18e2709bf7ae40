/** The field manager of the workload controllers; their user name is derived from it. */
export const manager = 'kube-controller-manager';

/** The field manager of the simulated kubelet. */
export const kubelet = 'kubelet';

/** The field manager of the simulated scheduler. */
export const scheduler = 'kube-scheduler';
