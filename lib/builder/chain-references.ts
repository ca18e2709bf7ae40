import type { EnvFromSource, EnvVar, Volume, VolumeMount } from '../apply/index.js';
import { labelValueOf } from '../object/index.js';
import type { ChainedName, ChainNames } from './chain-names.js';
import type { RequiredName } from './link.js';

/** The two halves of a mount: one for the pod's `volumes`, one for a container's `volumeMounts`. */
export interface Mount {
  readonly volume: Volume;
  readonly volumeMount: VolumeMount;
}

/** Options of {@link ChainReferences.mountClaim}. */
export interface MountOptions {
  /** Path in the container. */
  readonly mountPath: string;
  /** Name of the volume. @defaultValue the object's name, cut to a DNS label of 63 characters */
  readonly volumeName?: string | undefined;
  /** Mounts the volume read-only. @defaultValue true for ConfigMaps and Secrets, false for claims */
  readonly readOnly?: boolean | undefined;
  /** Mounts only this file or folder of the volume. @defaultValue the whole volume */
  readonly subPath?: string | undefined;
}

/** Options of {@link ChainReferences.mountConfigMap} and `mountSecret`. */
export interface FileMountOptions extends MountOptions {
  /** The keys that become files, and their paths in the volume. @defaultValue all keys, each under its name */
  readonly items?: NonNullable<Volume['configMap']>['items'] | undefined;
  /** The permissions of the files, such as `0o400`. @defaultValue the server's: `0o644` */
  readonly defaultMode?: number | undefined;
}

/**
 * Functions that refer to chained objects by name in a pod specification. A name that was not chained before
 * does not compile; a name that is known only at run time is checked by `reconcile`.
 */
export interface ChainReferences<Names extends ChainNames> {
  /** Returns all of a ConfigMap as environment variables. */
  readonly envFromConfigMap: <const Name extends string>(
    name: ChainedName<Names['configMap'], Name>,
    prefix?: string,
  ) => EnvFromSource;
  /** Returns all of a Secret as environment variables. */
  readonly envFromSecret: <const Name extends string>(
    name: ChainedName<Names['secret'], Name>,
    prefix?: string,
  ) => EnvFromSource;
  /** Returns one key of a ConfigMap as the environment variable `variable`. */
  readonly envOfConfigMap: <const Name extends string>(
    variable: string,
    name: ChainedName<Names['configMap'], Name>,
    key: string,
  ) => EnvVar;
  /** Returns one key of a Secret as the environment variable `variable`. */
  readonly envOfSecret: <const Name extends string>(
    variable: string,
    name: ChainedName<Names['secret'], Name>,
    key: string,
  ) => EnvVar;
  readonly mountConfigMap: <const Name extends string>(
    name: ChainedName<Names['configMap'], Name>,
    options: FileMountOptions,
  ) => Mount;
  readonly mountSecret: <const Name extends string>(
    name: ChainedName<Names['secret'], Name>,
    options: FileMountOptions,
  ) => Mount;
  readonly mountClaim: <const Name extends string>(
    name: ChainedName<Names['claim'], Name>,
    options: MountOptions,
  ) => Mount;
}

/** Returns {@link ChainReferences} that add every name to `requires`, which is checked later. */
export function recordingReferences<Names extends ChainNames>(
  requires: RequiredName[],
): ChainReferences<Names> {
  const need = (kind: ReferencedKind, name: string, by: string): string => {
    requires.push({ kinds: [kind], name, by });
    return name;
  };
  return {
    envFromConfigMap: (name, prefix) => ({
      ...(prefix !== undefined && { prefix }),
      configMapRef: { name: need('ConfigMap', name, 'envFromConfigMap') },
    }),
    envFromSecret: (name, prefix) => ({
      ...(prefix !== undefined && { prefix }),
      secretRef: { name: need('Secret', name, 'envFromSecret') },
    }),
    envOfConfigMap: (variable, name, key) => ({
      name: variable,
      valueFrom: { configMapKeyRef: { name: need('ConfigMap', name, 'envOfConfigMap'), key } },
    }),
    envOfSecret: (variable, name, key) => ({
      name: variable,
      valueFrom: { secretKeyRef: { name: need('Secret', name, 'envOfSecret'), key } },
    }),
    mountConfigMap: (name, options) => {
      need('ConfigMap', name, 'mountConfigMap');
      const source = { configMap: { name, ...filesOf(options) } };
      return mount(name, options, { readOnly: true, source });
    },
    mountSecret: (name, options) => {
      need('Secret', name, 'mountSecret');
      const source = { secret: { secretName: name, ...filesOf(options) } };
      return mount(name, options, { readOnly: true, source });
    },
    mountClaim: (name, options) => {
      need('PersistentVolumeClaim', name, 'mountClaim');
      const source = { persistentVolumeClaim: { claimName: name } };
      return mount(name, options, { readOnly: false, source });
    },
  };
}

type ReferencedKind = RequiredName['kinds'][number];

function filesOf({ items, defaultMode }: FileMountOptions) {
  return { ...(items && { items }), ...(defaultMode !== undefined && { defaultMode }) };
}

interface MountDefaults {
  readonly readOnly: boolean;
  readonly source: Omit<Volume, 'name'>;
}

function mount(objectName: string, options: MountOptions, defaults: MountDefaults): Mount {
  const { mountPath, volumeName, readOnly = defaults.readOnly, subPath } = options;
  const name = volumeName ?? volumeNameOf(objectName);
  return {
    volume: { name, ...defaults.source },
    volumeMount: {
      name,
      mountPath,
      ...(readOnly && { readOnly }),
      ...(subPath !== undefined && { subPath }),
    },
  };
}

// An object's name may have dots and up to 253 characters. A volume's name may have no dots and up to 63 characters.
function volumeNameOf(objectName: string): string {
  return labelValueOf(objectName).replaceAll('.', '-');
}
