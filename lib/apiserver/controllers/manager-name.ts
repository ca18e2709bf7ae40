/** The field manager and user name under which the workload controllers write. */
export const manager = 'kube-controller-manager';

/** The field manager of the simulated kubelet. */
export const kubelet = 'kubelet';

/** The field manager of the simulated scheduler. */
export const scheduler = 'kube-scheduler';
