import { isJsonObject } from './json.js';
import type { Schema } from './schema.js';

// Of each, the server takes one member alone; no schema of a built-in kind says so.
const unions: readonly (readonly string[])[] = [
  // EnvVar, EnvVarSource
  ['value', 'valueFrom'],
  ['configMapKeyRef', 'fieldRef', 'resourceFieldRef', 'secretKeyRef'],
  // Probe, LifecycleHandler
  ['exec', 'grpc', 'httpGet', 'tcpSocket'],
  ['exec', 'httpGet', 'sleep', 'tcpSocket'],
];

/**
 * The members that can't stand beside what `desired` sets, as `valueFrom` beside the `value` of an
 * environment variable, of the unions that Pods are made of.
 */
export function excludedMembers(desired: object, schema: Schema | undefined): readonly string[] {
  const { properties } = schema ?? {};
  if (properties === undefined || !isJsonObject(desired)) return [];
  const isSet = (name: string): boolean => desired[name] !== undefined && desired[name] !== null;
  return unions
    .filter((union) => union.every((name) => Object.hasOwn(properties, name)) && union.some(isSet))
    .flatMap((union) => union.filter((name) => !isSet(name)));
}
