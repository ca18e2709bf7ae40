import { ConfigMap, describeObject, isJsonObject, Secret } from '../../object/index.js';
import { OperatorError, refuseOtherThan } from '../../system/index.js';
import type { ChainedLink, ObjectOptions } from '../link.js';
import { objectLink } from './object-link.js';

interface ConfigurationOptions<Name extends string> extends ObjectOptions<Name> {
  /** The server rejects every later change of the data; see `onImmutable`. @defaultValue false */
  readonly immutable?: boolean | undefined;
  /**
   * Rolls the pods that use the data when it changes. Give false if their process reads its files again by itself. A
   * workload that names the object in `rolloutOn` rolls all the same.
   * @defaultValue true
   */
  readonly rolloutOnChange?: boolean | undefined;
}

/** Options of {@link BuilderChain.configMap | Builder.configMap}. */
export interface ConfigMapOptions<Name extends string = string> extends ConfigurationOptions<Name> {
  readonly data?: Readonly<Record<string, string | undefined>> | undefined;
  /** Values in base64. */
  readonly binaryData?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Options of {@link BuilderChain.secret | Builder.secret}. */
export interface SecretOptions<Name extends string = string> extends ConfigurationOptions<Name> {
  /** The type of the Secret. @defaultValue the server's: `Opaque` */
  readonly type?: string | undefined;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Plain values. They are sent in base64 as `data`, so that removing a key here removes it from the Secret.
   */
  readonly stringData?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Functions that make plain values, such as passwords, by key. A function is called if the Secret has no such key
   * on the server. A key that exists keeps its value, even one that a user has set. Delete it to get a new value;
   * pods that use the Secret roll then.
   */
  readonly generated?: Readonly<Record<string, () => string | Promise<string>>> | undefined;
}

export function configMapLink(options: ConfigMapOptions): ChainedLink {
  const { data, binaryData, immutable } = options;
  return configurationLink(ConfigMap, options, { data, binaryData, immutable });
}

export function secretLink(options: SecretOptions): ChainedLink {
  const { type, data, stringData, immutable, generated } = options;
  const body = { type, data, stringData, immutable };
  const link = configurationLink(Secret, options, body, { generated: true });
  if (generated === undefined) return link;
  checkGenerated(options, generated);
  // To recreate the Secret, the operator deletes it first. If the operator then stopped, the generated values would be
  // lost, so only the options of this Secret can allow that.
  return { ...link, generated, options: { onImmutable: 'fail', ...link.options } };
}

function configurationLink(
  type: typeof ConfigMap | typeof Secret,
  options: ConfigurationOptions<string>,
  body: Readonly<Record<string, unknown>>,
  others: object = {},
): ChainedLink {
  const link = objectLink(type, options, body, { ...others, rolloutOnChange: true });
  const { rolloutOnChange = true } = options;
  const subject = describeObject({ ...options, kind: type.kind });
  refuseOtherThan(`${subject}: rolloutOnChange`, rolloutOnChange, [true, false]);
  return { ...link, rolloutOnChange };
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
  if (!isJsonObject(generated))
    return refuse('generated', 'want an object with a function for each key');
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
