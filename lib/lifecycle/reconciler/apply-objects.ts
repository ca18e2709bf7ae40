import { deepEqual } from '../../object/deep-equal.js';
import { isStaleWrite } from '../../client/retry-on-conflict.js';
import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { versionLabelOf } from './completed-object.js';
import { failureText } from './failures.js';
import { hasCallbacks, invokeAfter, invokeCallbacks, owedState } from './user-code.js';
import { appliedText, mergedObject } from './merged-object.js';
import type { Pass } from './pass.js';
import type { SurveyedObject } from './survey.js';

/** The result of applying the desired objects. */
export interface AppliedObjects {
  /** The live objects, in the order of the desired ones, without those that failed. */
  readonly objects: readonly UnstructuredObject[];
  /** Whether something was written, or is still pending. */
  readonly changed: boolean;
  readonly errors: readonly unknown[];
}

/** Creates missing objects and updates changed ones, in sequence; continues after an error. */
export async function applyObjects<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<AppliedObjects> {
  const objects: UnstructuredObject[] = [];
  const errors: unknown[] = [];
  let changed = false;
  for (const one of surveyed) {
    pass.signal.throwIfAborted();
    try {
      const { current } = one;
      const after =
        current === undefined ? await create(pass, one) : await update(pass, one, current);
      if (after !== undefined) objects.push(after);
      changed ||= after !== current || after === undefined;
    } catch (error) {
      errors.push(error);
    }
  }
  return { objects, changed, errors };
}

/** @returns undefined if the kind is not served yet */
async function create<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { desired, type }: SurveyedObject,
): Promise<UnstructuredObject | undefined> {
  const { createVersionLabel, lastAppliedAnnotation } = pass.settings;
  const report = new Report(pass, desired, 'Create');
  try {
    if (type === undefined && !(await isServed(pass, desired))) return undefined;
    const own = structuredClone(desired);
    await invokeCallbacks(pass, 'PRE_CREATE', { desired: own });
    const annotations = { [lastAppliedAnnotation]: appliedText(pass, desired) };
    const labels = { [createVersionLabel]: versionLabelOf(pass.operatorVersion) };
    const marked = withMetadata(own, { labels, annotations });
    const made = await pass.live.create(marked, { signal: pass.signal });
    report.done(made);
    await invokeAfter(pass, 'POST_CREATE', { desired, current: made });
    return made;
  } catch (error) {
    report.failed(error);
    throw error;
  }
}

async function isServed<CR extends LifecycleObject>(
  { live }: Pass<CR>,
  { apiVersion, kind }: UnstructuredObject,
): Promise<boolean> {
  try {
    await live.resourceType({ apiVersion, kind });
    return true;
  } catch (error) {
    if (isOperatorError(error, 'UnknownKind')) return false;
    throw error;
  }
}

async function update<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { desired }: SurveyedObject,
  current: UnstructuredObject,
): Promise<UnstructuredObject> {
  // It is created again once it is gone.
  if (current.metadata.deletionTimestamp !== undefined) return current;
  const report = new Report(pass, desired, 'Update');
  try {
    const owed = owedState(pass, current);
    if (owed !== undefined) await invokeAfter(pass, owed, { desired, current });
    const own = hasCallbacks(pass, desired) ? structuredClone(current) : current;
    await invokeCallbacks(pass, 'POST_READ', { desired, current: own });
    const merged = mergedObject(pass, { desired, own, current });
    const { updateVersionLabel, putBacks } = pass.settings;
    if (merged === current || putBacks.has(current, merged)) return current;
    const next = structuredClone(merged);
    await invokeCallbacks(pass, 'PRE_UPDATE', { desired, current: next });
    if (deepEqual(next, current)) return current;
    const labels = { [updateVersionLabel]: versionLabelOf(pass.operatorVersion) };
    const written = await pass.live.update(withMetadata(next, { labels }), { signal: pass.signal });
    // The server reverted the whole write, as a webhook can: reporting it would repeat forever.
    if (written.metadata.resourceVersion === current.metadata.resourceVersion) {
      putBacks.add(current, merged);
      return current;
    }
    report.done(written);
    await invokeAfter(pass, 'POST_UPDATE', { desired, current: written });
    return written;
  } catch (error) {
    report.failed(error);
    throw error;
  }
}

interface Marks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

function withMetadata(object: UnstructuredObject, marks: Marks): UnstructuredObject {
  const { metadata } = object;
  const labels = { ...metadata.labels, ...marks.labels };
  const annotations = { ...metadata.annotations, ...marks.annotations };
  return {
    ...object,
    metadata: {
      ...metadata,
      labels,
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
  };
}

/** Reports the result for one object. */
class Report<CR extends LifecycleObject> {
  readonly #pass: Pass<CR>;
  readonly #desired: UnstructuredObject;
  readonly #verb: 'Create' | 'Update';
  #isDone = false;

  constructor(pass: Pass<CR>, desired: UnstructuredObject, verb: 'Create' | 'Update') {
    this.#pass = pass;
    this.#desired = desired;
    this.#verb = verb;
  }

  done(object: UnstructuredObject): void {
    this.#isDone = true;
    const message = `${this.#what} ${describeObject(object)}`;
    const reason = `${this.#verb}ResourceSuccess`;
    this.#pass.tell({ type: 'Normal', reason, message }, object);
  }

  failed(error: unknown): void {
    // A conflict is retried at once and is not a failure; nor is a stopped operator.
    if (isStaleWrite(error) || this.#pass.signal.aborted) return;
    const desired = this.#desired;
    const name = describeObject(desired);
    const source = this.#pass.sourceOf(error);
    const why = source === undefined ? '' : `${source}: `;
    const verb = this.#verb.toLowerCase();
    const what = this.#isDone ? `${this.#what} ${name}, then` : `could not ${verb} ${name}:`;
    const message = `${what} ${why}${failureText(error, desired)}`;
    this.#pass.fail(error, { reason: `${this.#verb}ResourceFailed`, message }, desired);
  }

  get #what(): string {
    return this.#verb === 'Create' ? 'created' : 'updated';
  }
}
