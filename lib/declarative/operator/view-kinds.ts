import { operatorOfViewGroup } from '../spec/operator-spec.js';
import type { ControllerSpec, ResourceSpec, SourceSpec } from '../spec/operator-spec.js';
import { isOwnView } from './targets.js';

/** A kind of views. */
export interface ViewKind {
  /** The operator that owns the view. */
  readonly operator: string;
  readonly kind: string;
}

/** Returns the kinds of views that the controllers of an operator read and write, each once. */
export function viewKindsOf(
  operator: string,
  controllers: readonly ControllerSpec[],
): readonly ViewKind[] {
  const kinds = controllers
    .flatMap(({ sources, target }) => [...sources.filter(isWatched), target])
    .flatMap((resource) => viewKindOf(operator, resource) ?? []);
  return [...new Map(kinds.map((kind) => [viewId(kind), kind])).values()];
}

/** Returns the view that a source or target refers to; undefined if it is not a view. */
function viewKindOf(operator: string, resource: ResourceSpec): ViewKind | undefined {
  const { apiGroup = '', kind } = resource;
  const owner = isOwnView(resource, operator) ? operator : operatorOfViewGroup(apiGroup);
  return owner === undefined ? undefined : { operator: owner, kind };
}

/** Returns a key that identifies a kind of views. */
function viewId({ operator, kind }: ViewKind): string {
  return `${operator}/${kind}`;
}

/** Whether a source watches objects. */
function isWatched({ type }: SourceSpec): boolean {
  return type === 'Watcher';
}
