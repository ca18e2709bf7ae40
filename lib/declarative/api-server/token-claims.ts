import type { PolicyRule } from '../../apiserver/index.js';
import { isJsonObject } from '../../object/json.js';

/** The claims of a token. All are required: a missing claim does not mean "everything". */
export interface TokenClaims {
  /** The user name in messages, logs and field managers; not empty. */
  readonly username: string;
  /** The namespaces that the rules apply to; `*`: all of them, and views without a namespace. */
  readonly namespaces: readonly string[];
  /**
   * The rules, as in a Role: `verbs`, `apiGroups`, `resources`, `resourceNames`, with `*` for all. A group
   * may begin with `*.`: `*.view.dcontroller.io` are the views of all operators.
   */
  readonly rules: readonly PolicyRule[];
}

/** Claims, or their problem: a text without any of their values. */
export type ReadClaims =
  { readonly claims: TokenClaims; readonly problem?: undefined } | { readonly problem: string };

/** Reads claims; ignores other members. */
export function readTokenClaims(value: Readonly<Record<string, unknown>>): ReadClaims {
  const { username, namespaces, rules } = value;
  if (typeof username !== 'string' || username === '') {
    return { problem: 'want a username, a text that is not empty' };
  }
  if (!isTexts(namespaces)) {
    return { problem: 'want namespaces, a list of names ("*" for all of them)' };
  }
  if (!Array.isArray(rules)) return { problem: 'want rules, a list of rules of a Role' };
  const wrong = rules.findIndex((rule: unknown) => !isRule(rule));
  if (wrong >= 0) return { problem: `rules[${wrong}]: ${ruleForm}` };
  return { claims: { username, namespaces, rules: rules as PolicyRule[] } };
}

const ruleForm =
  'want an object with verbs, and lists of texts for apiGroups, resources, resourceNames, nonResourceURLs';

const optionalLists = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

function isRule(rule: unknown): boolean {
  if (!isJsonObject(rule) || !isTexts(rule['verbs'])) return false;
  return optionalLists.every((name) => rule[name] === undefined || isTexts(rule[name], true));
}

/** @param empty - whether a text may be empty, like the core group. */
function isTexts(value: unknown, empty = false): value is string[] {
  if (!Array.isArray(value)) return false;
  return value.every((one: unknown) => typeof one === 'string' && (empty || one !== ''));
}
