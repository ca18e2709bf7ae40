import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { isStaleWrite } from '../../client/retry-on-conflict.js';
import type { CallbackState } from '../callbacks/callback.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { versionLabelOf } from './completed-object.js';
import { kindSchema } from './kind-schema.js';
import { lastAppliedOf } from './last-applied.js';
import { mergedObject } from './merged-object.js';
import type { Pass } from './pass.js';
import type { SurveyedObject } from './survey.js';

/** What became of the desired objects. */
export interface AppliedObjects {
  /** As they are now, in the order in which they are desired; those that failed are missing. */
  readonly objects: readonly UnstructuredObject[];
  /** Whether something was written, or is about to go. */
  readonly changed: boolean;
  readonly errors: readonly unknown[];
}

/** Makes what is missing and changes what differs, one after another; goes on after an error. */
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
      objects.push(after);
      changed ||= after !== current || after.metadata.deletionTimestamp !== undefined;
    } catch (error) {
      errors.push(error);
    }
  }
  return { objects, changed, errors };
}

async function create<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { desired }: SurveyedObject,
): Promise<UnstructuredObject> {
  const { createVersionLabel, lastAppliedAnnotation } = pass.settings;
  try {
    const own = structuredClone(desired);
    await invoke(pass, 'PRE_CREATE', { desired: own });
    const annotations = { [lastAppliedAnnotation]: lastAppliedOf(desired, kindSchema(desired)) };
    const labels = { [createVersionLabel]: versionLabelOf(pass.operatorVersion) };
    const made = await pass.live.create(withMetadata(own, { labels, annotations }), {
      signal: pass.signal,
    });
    tell(pass, 'Create', made);
    await invoke(pass, 'POST_CREATE', { desired, current: structuredClone(made) });
    return made;
  } catch (error) {
    warn(pass, 'Create', desired, error);
    throw error;
  }
}

async function update<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { desired }: SurveyedObject,
  current: UnstructuredObject,
): Promise<UnstructuredObject> {
  // It will be made anew when it is gone.
  if (current.metadata.deletionTimestamp !== undefined) return current;
  try {
    const own = isWatched(pass, desired) ? structuredClone(current) : current;
    await invoke(pass, 'POST_READ', { desired, current: own });
    const merged = mergedObject(pass, { desired, own, current });
    if (merged === current) return current;
    const next = structuredClone(merged);
    await invoke(pass, 'PRE_UPDATE', { desired, current: next });
    const { updateVersionLabel } = pass.settings;
    const labels = { [updateVersionLabel]: versionLabelOf(pass.operatorVersion) };
    const written = await pass.live.update(withMetadata(next, { labels }), { signal: pass.signal });
    tell(pass, 'Update', written);
    await invoke(pass, 'POST_UPDATE', { desired, current: structuredClone(written) });
    return written;
  } catch (error) {
    warn(pass, 'Update', desired, error);
    throw error;
  }
}

/** Whether callbacks may change it: they get copies of their own. */
function isWatched<CR extends LifecycleObject>(
  { settings }: Pass<CR>,
  object: UnstructuredObject,
): boolean {
  return settings.dispatcher.handles?.(object) ?? true;
}

async function invoke<CR extends LifecycleObject>(
  pass: Pass<CR>,
  state: CallbackState,
  objects: { readonly desired: UnstructuredObject; readonly current?: UnstructuredObject },
): Promise<void> {
  const { settings, logger, live: client, cr, signal } = pass;
  const { dispatcher, recorder, namespace } = settings;
  const { desired, current } = objects;
  if (!isWatched(pass, desired)) return;
  const told = { logger, client, recorder, namespace, cr, state, desired, current, signal };
  await dispatcher.invokeCallbacks(told);
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

function tell<CR extends LifecycleObject>(
  pass: Pass<CR>,
  verb: 'Create' | 'Update',
  object: UnstructuredObject,
): void {
  const done = verb === 'Create' ? 'created' : 'updated';
  const reason = `${verb}ResourceSuccess`;
  pass.tell({ type: 'Normal', reason, message: `${done} ${describeObject(object)}` }, object);
}

function warn<CR extends LifecycleObject>(
  pass: Pass<CR>,
  verb: 'Create' | 'Update',
  ...[object, error]: readonly [UnstructuredObject, unknown]
): void {
  // A conflict is tried again at once, and is nobody's fault.
  if (isStaleWrite(error)) return;
  const why = error instanceof Error ? error.message : String(error);
  const message = `could not ${verb.toLowerCase()} ${describeObject(object)}: ${why}`;
  pass.warn({ reason: `${verb}ResourceFailed`, message }, object);
}
