import { ConfigMap, describeObject, isJsonObject, Secret } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { ChainedLink, ObjectOptions } from '../link.js';
import { objectLink } from './object-link.js';

/** Options of {@link BuilderChain.configMap | Builder.configMap}. */
export interface ConfigMapOptions<Name extends string = string> extends ObjectOptions<Name> {
  readonly data?: Readonly<Record<string, string | undefined>> | undefined;
  /** Values in base64. */
  readonly binaryData?: Readonly<Record<string, string | undefined>> | undefined;
  /** The server rejects every later change of the data; see `onImmutable`. @defaultValue false */
  readonly immutable?: boolean | undefined;
}

/** Options of {@link BuilderChain.secret | Builder.secret}. */
export interface SecretOptions<Name extends string = string> extends ObjectOptions<Name> {
  /** @defaultValue the server's: `Opaque` */
  readonly type?: string | undefined;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Plain values. They are sent in base64 as `data`, so that removing a key here removes it from the Secret.
   */
  readonly stringData?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Functions that make plain values, such as passwords, by key. A function is called if the Secret has no such key on
   * the server. A key that exists keeps its value, also one that a user has set. Delete it to get a new value; pods that
   * use the Secret roll then.
   */
  readonly generated?: Readonly<Record<string, () => string | Promise<string>>> | undefined;
  /** The server rejects every later change of the data; see `onImmutable`. @defaultValue false */
  readonly immutable?: boolean | undefined;
}

export function configMapLink(options: ConfigMapOptions): ChainedLink {
  const { data, binaryData, immutable } = options;
  return objectLink(ConfigMap, options, { data, binaryData, immutable });
}

export function secretLink(options: SecretOptions): ChainedLink {
  const { type, data, stringData, immutable, generated } = options;
  const body = { type, data, stringData, immutable };
  const link = objectLink(Secret, options, body, { generated: true });
  if (generated === undefined) return link;
  checkGenerated(options, generated);
  return { ...link, generated };
}

/** @throws OperatorError `InvalidOption` */
function checkGenerated(
  { namespace, name, data, stringData }: SecretOptions,
  generated: unknown,
): void {
  const subject = describeObject({ kind: Secret.kind, namespace, name });
  const refuse = (option: string, problem: string): never => {
    throw new OperatorError('InvalidOption', `${subject}: ${option}: ${problem}`);
  };
  if (!isJsonObject(generated)) return refuse('generated', 'want functions by key');
  for (const [key, make] of Object.entries(generated)) {
    const option = `generated.${key}`;
    if (typeof make !== 'function') {
      refuse(option, `want a function that returns a string, got ${typeof make}`);
    }
    for (const [other, values] of Object.entries({ data, stringData })) {
      if (values?.[key] !== undefined) refuse(option, `${other} has the same key; leave one out`);
    }
  }
}
