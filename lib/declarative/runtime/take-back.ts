import type { Client } from '../../client/client.js';
import { retryOnConflict } from '../../client/retry-on-conflict.js';
import { isNotServed } from '../../cache/missing.js';
import { keyString } from '../../object/object-key.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import type { Clock } from '../../system/clock.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { Random } from '../../system/random.js';
import type { TargetWriter, WriteContext } from './target-writer.js';

/** Options of {@link takeBack}. */
export interface TakeBackParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Namespaces to search; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
}

/**
 * Removes everything that a target wrote, in this process or an earlier one. Does nothing if the kind is
 * unserved, the view server has stopped, or the process is not the leader; the leader removes it.
 * @throws AggregateError the failed removals, after all others have been done.
 */
export async function takeBack(writer: TargetWriter, parts: TakeBackParts): Promise<void> {
  const { client, clock, random, namespaces } = parts;
  const { signal } = new AbortController();
  const context: WriteContext = { client, signal, namespaces };
  const errors: unknown[] = [];
  for (const key of await writtenKeys(writer, context)) {
    const remove = (): Promise<unknown> => writer.write(key, undefined, context);
    try {
      await retryOnConflict(remove, { clock, random });
    } catch (error) {
      if (isOperatorError(error, 'Fenced')) return;
      errors.push(new Error(keyString(key), { cause: error }));
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'could not be taken away');
}

async function writtenKeys(
  writer: TargetWriter,
  context: WriteContext,
): Promise<readonly ObjectKey[]> {
  try {
    return await writer.written(context);
  } catch (error) {
    if (isNotServed(error) || isOperatorError(error, 'Stopped')) return [];
    throw error;
  }
}
