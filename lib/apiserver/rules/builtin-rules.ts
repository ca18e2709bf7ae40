import { appsRules } from './apps.js';
import { batchRules } from './batch.js';
import { configRules } from './config.js';
import type { KindRules } from './kind-rules.js';
import { namespaceRules } from './namespace.js';

/** The rules of a built-in kind; without any of its own, those that hold for all. */
export function builtinRules(group: string, version: string, kind: string): KindRules {
  return rules[`${group}/${version}/${kind}`] ?? {};
}

const rules: Readonly<Partial<Record<string, KindRules>>> = {
  ...appsRules,
  ...batchRules,
  ...configRules,
  '/v1/Namespace': namespaceRules,
};
