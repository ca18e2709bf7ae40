import type { Client } from '../../client/client.js';
import { diffObjects, serverSetFields } from '../../object/diff-by-path.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import type { ObjectReference } from '../../object/object-reference.js';
import { OperatorError } from '../../system/operator-error.js';
import type { ResourceType } from '../../object/resource-type.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { SlowedWrite } from './target-reconciler.js';

/**
 * Creates the error of a controller that feeds itself. It names the object that the controller keeps writing,
 * its other writers, and the writers of the object that caused the write. Values are omitted: they may be
 * secret.
 */
export async function hotLoopError(
  { key, trigger, live, writesPerMinute, delayMs }: SlowedWrite,
  type: ResourceType,
  client: Client,
): Promise<OperatorError> {
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, ...key };
  const after = await read(object, client);
  const paths = live === undefined || after === undefined ? [] : changedPaths(live, after);
  const changing = paths.length === 0 ? '' : `, changing ${paths.slice(0, 5).join(', ')}`;
  const writers = new Set([...managersOf(after), ...managersOf(live)]);
  const why = trigger.type === 'event' ? await describeCause(trigger.object, client) : '';
  const message =
    `keeps writing because of its own writes, ${writesPerMinute} times a minute, ` +
    `${object.kind} ${keyString(object)} last${changing}; ` +
    `it is written by ${[...writers].join(', ') || 'an unknown writer'}${why}. ` +
    `Such writes wait ${delayMs} ms now, and longer if this goes on`;
  return new OperatorError('HotLoop', message);
}

function changedPaths(before: KubernetesObject, after: KubernetesObject): readonly string[] {
  return diffObjects(before, after, { ignore: serverSetFields }).map(({ path }) => path);
}

/** If the object is gone or not readable, the report omits its details. */
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
