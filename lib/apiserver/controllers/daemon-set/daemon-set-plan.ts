/** Input of the plan: a pod of a DaemonSet. */
export interface DaemonPodView {
  readonly name: string;
  /** True if the pod has the newest revision. */
  readonly updated: boolean;
  /** True if the pod has been ready for at least `minReadySeconds`. */
  readonly available: boolean;
  readonly terminating: boolean;
  readonly finished: boolean;
}

/** A node and the pods of the DaemonSet on it, oldest first. */
export interface DaemonNodeView {
  readonly name: string;
  /** True if the DaemonSet's pods fit on the node. */
  readonly wanted: boolean;
  readonly pods: readonly DaemonPodView[];
}

/** Input of the plan: a DaemonSet. */
export interface DaemonSetView {
  readonly nodes: readonly DaemonNodeView[];
  readonly strategy: 'RollingUpdate' | 'OnDelete';
  /** The maximum number of nodes without an available pod during an update. */
  readonly maxUnavailable: number;
  /** The maximum number of nodes with a second pod during an update. With 0, old pods are deleted first. */
  readonly maxSurge: number;
}

/** Pods to delete, and nodes to create a pod on. */
export interface DaemonSetPlan {
  readonly createOn: readonly string[];
  readonly deletePods: readonly string[];
}

/** Plans the next step of a DaemonSet: one pod on each wanted node, then the update. */
export function daemonSetPlan(set: DaemonSetView): DaemonSetPlan {
  const placement = placePods(set.nodes);
  if (set.strategy === 'OnDelete') return placement;
  const update = set.maxSurge > 0 ? surgeStep(set) : replaceStep(set);
  return {
    createOn: [...new Set([...placement.createOn, ...update.createOn])],
    deletePods: [...new Set([...placement.deletePods, ...update.deletePods])],
  };
}

function placePods(nodes: readonly DaemonNodeView[]): DaemonSetPlan {
  const createOn: string[] = [];
  const deletePods: string[] = [];
  for (const { name, wanted, pods } of nodes) {
    const gone = pods.filter(({ finished, terminating }) => finished && !terminating);
    const alive = pods.filter(({ finished, terminating }) => !finished && !terminating);
    deletePods.push(...gone.map((pod) => pod.name));
    if (!wanted) deletePods.push(...alive.map((pod) => pod.name));
    // A terminating pod must be gone before the next pod is created.
    else if (pods.length === 0) createOn.push(name);
    else deletePods.push(...duplicates(alive).map((pod) => pod.name));
  }
  return { createOn, deletePods };
}

/**
 * Returns the surplus pods of a node: all but the oldest updated and the oldest old one. A surge needs both.
 */
function duplicates(alive: readonly DaemonPodView[]): DaemonPodView[] {
  const [updated, old] = [alive.filter((pod) => pod.updated), alive.filter((pod) => !pod.updated)];
  return [...updated.slice(1), ...old.slice(1)];
}

/** Deletes unavailable old pods at once, and available ones as far as `maxUnavailable` allows. */
function replaceStep({ nodes, maxUnavailable }: DaemonSetView): DaemonSetPlan {
  const broken: string[] = [];
  const working: string[] = [];
  let unavailable = 0;
  for (const { wanted, pods } of nodes) {
    if (!wanted) continue;
    const pod = pods.find(({ terminating, finished }) => !terminating && !finished);
    if (pod === undefined) unavailable++;
    else if (pod.updated) unavailable += pod.available ? 0 : 1;
    else if (pod.available) working.push(pod.name);
    else {
      broken.push(pod.name);
      unavailable++;
    }
  }
  const room = Math.max(0, maxUnavailable - unavailable);
  return { createOn: [], deletePods: [...broken, ...working.slice(0, room)] };
}

/** Creates a new pod beside the old one, and deletes the old pod when the new one is available. */
function surgeStep({ nodes, maxSurge }: DaemonSetView): DaemonSetPlan {
  const deletePods: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const { name, wanted, pods } of nodes) {
    if (!wanted) continue;
    const alive = pods.filter(({ terminating, finished }) => !terminating && !finished);
    const old = alive.find(({ updated }) => !updated);
    const fresh = alive.find(({ updated }) => updated);
    if (old === undefined) continue;
    if (fresh === undefined) candidates.push(name);
    else if (fresh.available) deletePods.push(old.name);
    else surging++;
  }
  return { createOn: candidates.slice(0, Math.max(0, maxSurge - surging)), deletePods };
}
