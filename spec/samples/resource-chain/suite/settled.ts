import { findCondition } from '../../../../lib/object/conditions.js';
import type { Site } from '../../../../samples/resource-chain/site.js';

/** Reports whether `chain` has applied the newest spec, and all its Deployments have rolled out. */
export function isSettled({ metadata, status }: Site, chain: string): boolean {
  const { ready = '', observedGeneration } = status ?? {};
  const [complete, all] = ready.split('/');
  const wanted = chain === 'v1' ? '2' : '3';
  // A reconcile writes this condition last.
  const condition = findCondition(status?.conditions, 'Ready');
  return (
    condition?.status === 'True' &&
    condition.observedGeneration === metadata.generation &&
    observedGeneration === metadata.generation &&
    status?.chain === chain &&
    complete === wanted &&
    all === wanted
  );
}
