import { isJsonObject } from './json.js';
import type { Schema } from './schema.js';

// The server accepts only one member of each; the schemas of built-in kinds do not express this.
const unions: readonly (readonly string[])[] = [
  // EnvVar, EnvVarSource
  ['value', 'valueFrom'],
  ['configMapKeyRef', 'fieldRef', 'resourceFieldRef', 'secretKeyRef'],
  // Probe, LifecycleHandler
  ['exec', 'grpc', 'httpGet', 'tcpSocket'],
  ['exec', 'httpGet', 'sleep', 'tcpSocket'],
];

/**
 * Returns the members that conflict with those that `desired` sets, for example `valueFrom` with `value` of
 * an environment variable; for the unions in Pods.
 */
export function excludedMembers(desired: object, schema: Schema | undefined): readonly string[] {
  const { properties } = schema ?? {};
  if (properties === undefined || !isJsonObject(desired)) return [];
  const isSet = (name: string): boolean => desired[name] !== undefined && desired[name] !== null;
  return unions
    .filter((union) => union.every((name) => Object.hasOwn(properties, name)) && union.some(isSet))
    .flatMap((union) => union.filter((name) => !isSet(name)));
}
