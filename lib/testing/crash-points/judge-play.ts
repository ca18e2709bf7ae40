import { diffObjects, redactChanges } from '../../object/diff-by-path.js';
import type { FieldChange } from '../../object/diff-by-path.js';
import { describeRequest } from './crash-point.js';
import type { CrashProblem, CrashRequest } from './crash-point.js';
import type { ClusterState, ObservedObject } from './cluster-state.js';
import type { Played, PlayedStep } from './play.js';

/**
 * Returns the problems of an interrupted run: its own, and the differences from the uninterrupted run, for
 * each step that both completed, from the interruption on.
 */
export function judgePlay(played: Played, whole: Played): CrashProblem[] {
  const at = played.steps.findIndex(({ name }) => name === played.interruptedAt?.step);
  if (at < 0) return [...played.problems];
  const before: ClusterState = played.steps[at - 1]?.state ?? new Map();
  const wholeBefore: ClusterState = whole.steps[at - 1]?.state ?? new Map();
  const [step, wholeStep] = [played.steps[at], whole.steps[at]];
  if (step === undefined || wholeStep === undefined) return [...played.problems];
  return [
    ...createdTwice(step, wholeStep),
    ...replaced([before, step.state], [wholeBefore, wholeStep.state]),
    ...comparedStates(step.state, wholeStep.state),
    ...played.problems,
  ];
}

function createdTwice(step: PlayedStep, whole: PlayedStep): CrashProblem[] {
  const usual = creationsIn(whole.requests);
  return [...creationsIn(step.requests)].flatMap(([name, count]) => {
    const want = usual.get(name) ?? 0;
    if (count <= Math.max(want, 1)) return [];
    const message = `${name} made an object ${count} times, uninterrupted ${want} times`;
    return [{ type: 'createdTwice', message } as const];
  });
}

function creationsIn(requests: readonly CrashRequest[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const request of requests.filter(({ created }) => created)) {
    // Each run may have its own namespace.
    const name = describeRequest({ ...request, namespace: undefined });
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

type BeforeAndAfter = readonly [before: ClusterState, after: ClusterState];

/** Returns objects that keep their UID through the step in the uninterrupted run only. */
function replaced([before, after]: BeforeAndAfter, whole: BeforeAndAfter): CrashProblem[] {
  return [...after].flatMap(([key, { name, live }]) => {
    const wasKept = isSame(whole[0].get(key), whole[1].get(key));
    if (!wasKept || !before.has(key) || isSame(before.get(key), after.get(key))) return [];
    const message = `${name} was deleted and made again: its UID was ${before.get(key)?.live.metadata.uid ?? ''}, now ${live.metadata.uid ?? ''}`;
    return [{ type: 'replaced', message } as const];
  });
}

function isSame(one: ObservedObject | undefined, other: ObservedObject | undefined): boolean {
  return one !== undefined && one.live.metadata.uid === other?.live.metadata.uid;
}

function comparedStates(state: ClusterState, whole: ClusterState): CrashProblem[] {
  const orphans = [...state].filter(([key]) => !whole.has(key)).map(([, each]) => orphan(each));
  const others = [...whole].flatMap(([key, want]): CrashProblem[] => {
    const found = state.get(key);
    const missing = `${want.name} is not there, but is in the uninterrupted run`;
    if (found === undefined) return [{ type: 'missing', message: missing }];
    return differences(found, want);
  });
  return [...orphans, ...others];
}

function orphan({ name, live }: ObservedObject): CrashProblem {
  const { finalizers = [], deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined && finalizers.length > 0) {
    const message = `${name} is held by ${finalizers.join(', ')}, but is gone in the uninterrupted run`;
    return { type: 'finalizerLeft', message };
  }
  return { type: 'orphan', message: `${name} is there, but is not in the uninterrupted run` };
}

const longestList = 5;

function differences(found: ObservedObject, want: ObservedObject): CrashProblem[] {
  const changes = diffObjects(want.comparable, found.comparable);
  if (changes.length === 0) return [];
  const shown = redactChanges(found.live.kind, changes).slice(0, longestList).map(describeChange);
  const more = changes.length - shown.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  const message = `${found.name} differs from the uninterrupted run: ${shown.join('; ')}${rest}`;
  return [{ type: 'differs', message }];
}

function describeChange({ path, from, to }: FieldChange): string {
  return `${path}: ${textOf(from)} there, ${textOf(to)} here`;
}

const longestText = 200;

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
