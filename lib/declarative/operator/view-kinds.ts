import { operatorOfViewGroup } from '../spec/operator-spec.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import { isOwnView } from './targets.js';

/** A kind of views. */
export interface ViewKind {
  /** The operator whose view it is. */
  readonly operator: string;
  readonly kind: string;
}

/** The kinds of views that the controllers of an operator read and write, each once. */
export function viewKindsOf(
  operator: string,
  controllers: readonly ControllerSpec[],
): readonly ViewKind[] {
  const kinds = new Map<string, ViewKind>();
  for (const { sources, target } of controllers) {
    const watched = sources.filter(({ type }) => type === 'Watcher');
    for (const resource of [...watched, target]) {
      const { apiGroup = '', kind } = resource;
      const owner = isOwnView(resource, operator) ? operator : operatorOfViewGroup(apiGroup);
      if (owner !== undefined) kinds.set(`${owner}/${kind}`, { operator: owner, kind });
    }
  }
  return [...kinds.values()];
}
