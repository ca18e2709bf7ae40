import { pauseOf } from '../../status/index.js';
import { isNotFound } from '../../object/api-error.js';
import { keyOf } from '../../object/object-key.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { raise, settle } from './status.js';
import type { Pass } from './pass.js';

/**
 * Whether an annotation pauses the configuration. If so, a condition and an event name the annotation, and
 * nothing else is done, not even a deletion.
 */
export function isPaused<CR extends LifecycleObject>(pass: Pass<CR>): boolean {
  const { pauseAnnotations } = pass.settings;
  const { by, update } = pauseOf(pass.cr, pass.status.conditions ?? [], pauseAnnotations);
  if (by === undefined) {
    const message = 'reconciled again: no annotation pauses it';
    if (settle(pass, 'Paused')) pass.tellOfStatus({ type: 'Normal', reason: 'Resumed', message });
    return false;
  }
  if (update === undefined) return true;
  const { reason, message = by } = update;
  raise(pass, 'Paused', { reason, message });
  pass.tellOfStatus({ type: 'Normal', reason: 'Paused', message: `paused by ${message}` });
  return true;
}

/** Whether our finalizer, or one of the previous operator, holds the configuration. */
export function hasFinalizer<CR extends LifecycleObject>({ cr, settings }: Pass<CR>): boolean {
  const ours = [settings.finalizer, ...settings.legacyFinalizers];
  return cr.metadata.finalizers?.some((name) => ours.includes(name)) === true;
}

/** Adds our finalizer, and removes those of the previous operator. */
export async function takeFinalizers<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const { finalizer } = pass.settings;
  const { finalizers = [] } = pass.cr.metadata;
  const kept = withoutLegacy(pass);
  const isWhole = kept.length === finalizers.length && kept.includes(finalizer);
  if (!isWhole)
    await setFinalizers(pass, [...kept.filter((name) => name !== finalizer), finalizer]);
}

/** Removes our finalizer and those of the previous operator. The configuration may already be gone. */
export async function releaseFinalizers<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const others = withoutLegacy(pass).filter((name) => name !== pass.settings.finalizer);
  try {
    await setFinalizers(pass, others);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function withoutLegacy<CR extends LifecycleObject>({ cr, settings }: Pass<CR>): readonly string[] {
  const { finalizers = [] } = cr.metadata;
  return finalizers.filter((name) => !settings.legacyFinalizers.includes(name));
}

// A merge patch replaces the whole list: without the resource version, it would drop finalizers that others
// have added.
async function setFinalizers<CR extends LifecycleObject>(
  pass: Pass<CR>,
  finalizers: readonly string[],
): Promise<void> {
  const { cr, live, settings, signal } = pass;
  const { uid, resourceVersion } = cr.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  const { type } = settings.crManager;
  pass.cr = await live.patch(type, keyOf(cr), { type: 'merge', body }, { signal });
}
