import { apiVersionOf } from '../../object/index.js';
import { refuseUnknownOptions, OperatorError, seededRandom } from '../../system/index.js';
import type { LeftOverCheck } from '../left-overs.js';
import type {
  CrashProblem,
  CrashRequest,
  Interruption,
  PointResult,
  PointsReport,
} from './crash-point.js';
import type { CrashCluster, CrashScenario, ResolvedScenario } from './crash-scenario.js';
import { judgePlay } from './cluster-state.js';
import { Play } from './play.js';
import type { Played } from './play.js';
import { resolveScenario } from './crash-scenario.js';

/** Options of `crashPoints` and `faultSweep`. */
export interface SweepOptions<P extends Interruption> {
  /** Tests only the points with these fields, to investigate a failure. @defaultValue all points */
  readonly only?: Partial<P> | undefined;
  /** The ways to interrupt the operator or the request. @defaultValue all modes */
  readonly modes?: readonly P['mode'][] | undefined;
  /** Tests only `count` points, chosen by `seed`. @defaultValue all points */
  readonly sample?: { readonly count: number; readonly seed: number } | undefined;
  /**
   * The number of points that run concurrently, each on its own cluster (or namespace); at least 1. Saves
   * time if runs mostly wait, as on a real cluster. The results stay in order.
   * @defaultValue 1
   */
  readonly concurrency?: number | undefined;
  /**
   * Deletes the owner at the end of each run, while the operator runs. No object that the operator created
   * for it may be left.
   * @defaultValue not checked
   */
  readonly leftOvers?: LeftOverCheck | undefined;
}

/** A way to interrupt every request of a scenario. */
export interface Sweep<P extends Interruption> {
  /** The name of the function that the user calls. */
  readonly call: string;
  readonly allModes: readonly P['mode'][];
  /** Returns true if an interruption of this request in this mode differs from all other points. */
  readonly differs: (request: CrashRequest, mode: P['mode']) => boolean;
  readonly failed: (report: PointsReport<P>, own?: readonly CrashProblem[]) => Error;
}

/** Plays `scenario` uninterrupted, and then once for each point, each time on a fresh cluster. */
export async function playSweep<C extends CrashCluster, P extends Interruption>(
  scenario: CrashScenario<C>,
  options: SweepOptions<P>,
  sweep: Sweep<P>,
): Promise<PointsReport<P>> {
  const { name } = scenario;
  const { only = {}, modes = sweep.allModes, sample, concurrency = 1, leftOvers } = options;
  const resolvedOptions = { only, modes, sample, concurrency, leftOvers };
  refuseUnknownOptions<SweepOptions<P>>(sweep.call, options, resolvedOptions);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    const message = `${name}: concurrency: want a whole number, at least 1, got ${concurrency}`;
    throw new OperatorError('InvalidOption', message);
  }
  checkModes(sweep, modes);
  checkSample(sweep, sample);
  const { resolved, whole } = await uninterrupted(resolveScenario(scenario, leftOvers));
  if (whole.problems.length > 0) {
    const report = { scenario: name, requests: whole.requests, results: [] };
    throw sweep.failed(report, whole.problems);
  }
  const points = pointsOf({ ...options, modes }, whole, { name, sweep });
  const results = await inOrder(points, concurrency, (point) => resultAt(point, resolved, whole));
  const requests = whole.steps.flatMap((step) => step.requests);
  const report = { scenario: name, requests, results };
  if (results.some(({ problems }) => problems.length > 0)) throw sweep.failed(report);
  return report;
}

function checkModes<P extends Interruption>(
  { call, allModes }: Sweep<P>,
  modes: readonly P['mode'][],
): void {
  const unknown = modes.find((mode) => !allModes.includes(mode));
  if (unknown === undefined) return;
  const message = `${call}: modes: want ${allModes.join(', ')}, got ${JSON.stringify(unknown)}`;
  throw new OperatorError('InvalidOption', message);
}

/** Checks the sample size. @throws OperatorError `InvalidOption`: the sample would be empty. */
function checkSample(
  { call }: { readonly call: string },
  sample: { readonly count: number } | undefined,
): void {
  if (sample === undefined || (Number.isInteger(sample.count) && sample.count >= 1)) return;
  const message = `${call}: sample.count: want a whole number, at least 1, got ${sample.count}`;
  throw new OperatorError('InvalidOption', message);
}

interface Uninterrupted<C extends CrashCluster> {
  /** The scenario with all kinds that the operator writes. */
  readonly resolved: ResolvedScenario<C>;
  readonly whole: Played;
}

async function uninterrupted<C extends CrashCluster>(
  asGiven: ResolvedScenario<C>,
): Promise<Uninterrupted<C>> {
  const first = await Play.run(asGiven);
  const { kinds } = asGiven;
  const unknown = first.writtenKinds.filter(
    ({ apiVersion, kind }) =>
      !kinds.some((given) => given.kind === kind && apiVersionOf(given) === apiVersion),
  );
  const resolved = { ...asGiven, kinds: [...kinds, ...unknown] };
  if (first.problems.length > 0 || unknown.length === 0) return { resolved, whole: first };
  // Now that the kinds are known, the second run observes their objects from the start.
  return { resolved, whole: await Play.run(resolved) };
}

/** Calls `each` for all items, with `atOnce` calls at a time. */
async function inOrder<T, R>(
  items: readonly T[],
  atOnce: number,
  each: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let left = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, item] = next;
      try {
        results[at] = await each(item);
      } catch (error) {
        left = [];
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function resultAt<C extends CrashCluster, P extends Interruption>(
  point: P,
  scenario: ResolvedScenario<C>,
  whole: Played,
): Promise<PointResult<P>> {
  const played = await Play.run(scenario, point);
  return { point, request: played.interruptedAt, problems: judgePlay(played, whole) };
}

interface Choice<P extends Interruption> {
  /** The name of the scenario. */
  readonly name: string;
  readonly sweep: Sweep<P>;
}

function pointsOf<P extends Interruption>(
  { only = {}, modes = [], sample }: SweepOptions<P>,
  { steps }: Played,
  { name, sweep }: Choice<P>,
): readonly P[] {
  const all = steps.flatMap(({ requests }) =>
    requests.flatMap((each) => {
      const { step, request } = each;
      const differing = modes.filter((mode) => sweep.differs(each, mode));
      return differing.map((mode) => ({ step, request, mode }) as P);
    }),
  );
  const wanted = Object.entries(only) as [keyof P, unknown][];
  const found = all.filter((point) => wanted.every(([key, value]) => point[key] === value));
  if (found.length === 0) {
    const asked = JSON.stringify(wanted.length > 0 ? only : { modes });
    const message = `${name}: no request of the scenario matches ${asked}; correct the options of ${sweep.call}`;
    throw new OperatorError('InvalidOption', message);
  }
  return sample === undefined ? found : sampleOf(found, sample);
}

function sampleOf<P>(
  points: readonly P[],
  { count, seed }: { readonly count: number; readonly seed: number },
): readonly P[] {
  const random = seededRandom(seed);
  const drawn = points.map((point) => ({ point, rank: random.next() }));
  const chosen = new Set(drawn.toSorted((one, other) => one.rank - other.rank).slice(0, count));
  return drawn.filter((each) => chosen.has(each)).map(({ point }) => point);
}
