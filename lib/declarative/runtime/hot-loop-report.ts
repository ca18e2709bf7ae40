import type { Client } from '../../client/client.js';
import type { HotLoopEvent } from '../../controller/controller-event.js';
import { diffObjects, serverSetFields } from '../../object/diff-by-path.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import type { ObjectReference } from '../../object/object-reference.js';
import { OperatorError } from '../../system/operator-error.js';
import type { WriteCause } from './target-reconciler.js';

/**
 * Says that a controller keeps writing an object, and who is on the other side: who else writes it, and
 * who wrote what made this controller write. Values are left out: they may be secret.
 */
export async function hotLoopError(
  event: HotLoopEvent,
  cause: WriteCause | undefined,
  client: Client,
): Promise<OperatorError> {
  const { object, writesPerMinute, managers, delayMs } = event;
  const paths = event.paths.length > 0 ? event.paths : await changedBy(event, cause, client);
  const changing = paths.length === 0 ? '' : `, changing ${paths.slice(0, 5).join(', ')}`;
  const writers = new Set([...managers, ...managersOf(cause?.live)]);
  const trigger = cause?.trigger;
  const why = trigger?.type === 'event' ? await describeCause(trigger.object, client) : '';
  const message =
    `keeps writing ${object.kind} ${keyString(object)}, ${writesPerMinute} times a minute` +
    `${changing}; it is written by ${[...writers].join(', ') || 'nobody known'}${why}. ` +
    `It waits ${delayMs} ms now between two writes, and longer if this goes on`;
  return new OperatorError('HotLoop', message);
}

/** What a write changed of an object that no cache has. */
async function changedBy(
  { object }: HotLoopEvent,
  cause: WriteCause | undefined,
  client: Client,
): Promise<readonly string[]> {
  const before = cause?.live;
  const after = await read(object, client);
  if (before === undefined || after === undefined) return [];
  return diffObjects(before, after, { ignore: serverSetFields }).map(({ path }) => path);
}

/** It may be gone, or not ours to read: then a report says less. */
async function read(
  { apiVersion, kind, ...key }: ObjectReference,
  client: Client,
): Promise<KubernetesObject | undefined> {
  return client.get({ apiVersion, kind }, key).catch(() => undefined);
}

async function describeCause(object: ObjectReference, client: Client): Promise<string> {
  const managers = managersOf(await read(object, client));
  const by = managers.length === 0 ? '' : `, which is written by ${managers.join(', ')}`;
  return `; what makes it write is ${object.kind} ${keyString(object)}${by}`;
}

function managersOf(object: KubernetesObject | undefined): readonly string[] {
  const entries = object?.metadata.managedFields ?? [];
  return [...new Set(entries.flatMap(({ manager }) => manager ?? []))];
}
