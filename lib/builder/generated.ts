import { readObject } from '../apply/index.js';
import { describeObject } from '../object/index.js';
import type { UnstructuredObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { BuilderSettings } from './builder-options.js';
import type { ChainedObject } from './chain.js';

/** Functions that make the values of a Secret as plain text, by key. */
export type GeneratedValues = Readonly<Record<string, () => string | Promise<string>>>;

type Data = Readonly<Record<string, unknown>>;

/**
 * Adds the generated values to the Secret of a link: those that the Secret has on the server, and new ones for the
 * other keys. A cache may be late, so it does not prove that a key is missing.
 * @throws OperatorError `InvalidValue`: a function returned something other than a string, or an empty one, which
 * would stay as the password.
 */
export async function withGenerated(
  settings: BuilderSettings,
  chained: ChainedObject,
): Promise<ChainedObject> {
  const { link, type, ref } = chained;
  const { generated } = link;
  if (generated === undefined) return chained;
  const keys = Object.keys(generated);
  const { client } = settings;
  const isWhole = (data: Data): boolean => keys.every((key) => Object.hasOwn(data, key));
  let known = dataOf(await readObject({ client, settings }, type, ref));
  if (!isWhole(known) && client.live !== undefined) {
    known = dataOf(await readObject({ client: client.live, settings }, type, ref));
  }
  const values = keys.map(async (key): Promise<[string, unknown]> => {
    if (Object.hasOwn(known, key)) return [key, known[key]];
    const made: unknown = await generated[key]?.();
    if (typeof made === 'string' && made !== '') return [key, Buffer.from(made).toString('base64')];
    const got = made === '' ? 'an empty one' : typeof made;
    const message = `${describeObject(ref)}: generated.${key}: want a function that returns a string, got ${got}`;
    throw new OperatorError('InvalidValue', message);
  });
  const data = { ...dataOf(link.object), ...Object.fromEntries(await Promise.all(values)) };
  return { ...chained, link: { ...link, object: { ...link.object, data } } };
}

/**
 * Returns the reason to leave a Secret unchanged: another process wrote values of its own after this process had read
 * the Secret. The next reconcile keeps these values.
 */
export function reasonToReadAgain(
  { link: { generated = {}, object } }: ChainedObject,
  live: UnstructuredObject,
): string | undefined {
  const [wanted, present] = [dataOf(object), dataOf(live)];
  const isNewer = (key: string): boolean =>
    Object.hasOwn(present, key) && present[key] !== wanted[key];
  return Object.keys(generated).some(isNewer)
    ? 'got its generated values from another process meanwhile, and keeps them'
    : undefined;
}

function dataOf(object: UnstructuredObject | undefined): Data {
  return (object?.['data'] ?? {}) as Data;
}
