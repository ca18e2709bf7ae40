import { isOwnView } from './targets.js';
import type { ControllerSpec, ResourceSpec } from '../spec/operator-spec.js';

/** The kinds of an operator's own views: those that its controllers read and those that they write. */
export function viewKindsOf(
  operator: string,
  controllers: readonly ControllerSpec[],
): readonly string[] {
  const resources = controllers.flatMap(({ sources, target }): readonly ResourceSpec[] => [
    ...sources.filter(({ type }) => type === 'Watcher'),
    target,
  ]);
  const own = resources.filter((one) => isOwnView(one, operator));
  return [...new Set(own.map(({ kind }) => kind))];
}
