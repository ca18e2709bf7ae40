/** What the plan needs to know of a pod of a DaemonSet. */
export interface DaemonPodView {
  readonly name: string;
  /** Made of the newest revision. */
  readonly updated: boolean;
  /** Ready for at least `minReadySeconds`. */
  readonly available: boolean;
  readonly terminating: boolean;
  readonly finished: boolean;
}

/** A node and the pods of the DaemonSet on it, oldest first. */
export interface DaemonNodeView {
  readonly name: string;
  /** Whether the DaemonSet's pods fit on the node. */
  readonly wanted: boolean;
  readonly pods: readonly DaemonPodView[];
}

/** What the plan needs to know of a DaemonSet. */
export interface DaemonSetView {
  readonly nodes: readonly DaemonNodeView[];
  readonly strategy: 'RollingUpdate' | 'OnDelete';
  /** Nodes without an available pod that an update may make. */
  readonly maxUnavailable: number;
  /** Nodes that may have a second pod during an update; 0: old pods go first. */
  readonly maxSurge: number;
}

/** Pods to delete, and nodes that get one. */
export interface DaemonSetPlan {
  readonly createOn: readonly string[];
  readonly deletePods: readonly string[];
}

/** What a DaemonSet does next: one pod for each wanted node, then its update. */
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
    // One that ends must have gone before the next one comes.
    else if (pods.length === 0) createOn.push(name);
    else deletePods.push(...duplicates(alive).map((pod) => pod.name));
  }
  return { createOn, deletePods };
}

/** Beside one old and one new pod (a surge) there should be none; the oldest stay. */
function duplicates(alive: readonly DaemonPodView[]): DaemonPodView[] {
  const [updated, old] = [alive.filter((pod) => pod.updated), alive.filter((pod) => !pod.updated)];
  return [...updated.slice(1), ...old.slice(1)];
}

/** Old pods that don't work go at once, working ones as far as `maxUnavailable` lets them. */
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

/** A new pod comes beside the old one, which goes when the new one is available. */
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
