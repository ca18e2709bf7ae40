import { ConfigMap, Secret } from '../../object/index.js';
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
  /** The server rejects every later change of the data; see `onImmutable`. @defaultValue false */
  readonly immutable?: boolean | undefined;
}

export function configMapLink(options: ConfigMapOptions): ChainedLink {
  const { data, binaryData, immutable } = options;
  return objectLink(ConfigMap, options, { data, binaryData, immutable });
}

export function secretLink(options: SecretOptions): ChainedLink {
  const { type, data, stringData, immutable } = options;
  return objectLink(Secret, options, { type, data, stringData, immutable });
}
