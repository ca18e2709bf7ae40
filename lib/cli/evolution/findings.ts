import pc from 'picocolors';
import { UsageError } from '../command-context.js';

/** A rule of `lint` or `breaking`. */
export interface Rule {
  readonly level: 'error' | 'warning';
  /** Whether the rule applies only if the user names it. @defaultValue false */
  readonly optional?: true;
  /** The subject of the rule, for `--help` and the documentation. */
  readonly about: string;
}

export const error = (about: string): Rule => ({ level: 'error', about });
export const warning = (about: string): Rule => ({ level: 'warning', about });

/** A problem of a CustomResourceDefinition. */
export interface DefinitionFinding {
  readonly level: Rule['level'];
  readonly rule: string;
  /** The name of the CustomResourceDefinition. */
  readonly definition: string;
  /** The versions with the problem; empty for the definition as a whole. */
  readonly versions: readonly string[];
  /** The field, such as `spec.ports[*].name`; empty for the version or the definition as a whole. */
  readonly path: string;
  /** The problem, its consequence and its remedy. */
  readonly message: string;
}

/** A finding without the level of its rule and the name of its definition. */
export interface Problem<R extends string> {
  readonly rule: R;
  readonly path: string;
  readonly message: string;
}

/** Rules that the user has switched off or on, by name or as `name:path`. */
export interface RuleChoice {
  readonly disable: readonly string[];
  readonly enable: readonly string[];
}

type Rules = Readonly<Record<string, Rule>>;

/** Checks that the rules in the user's choice exist. @throws UsageError unknown rule */
export function checkChoice({ disable, enable }: RuleChoice, rules: Rules): void {
  for (const given of [...disable, ...enable]) {
    const name = nameOf(given);
    if (Object.hasOwn(rules, name)) continue;
    throw new UsageError(`unknown rule ${name}; the rules are ${Object.keys(rules).join(', ')}`);
  }
}

/** Returns the findings of the rules that are on. A finding that several versions share is one entry. */
export function chosen(
  findings: readonly DefinitionFinding[],
  { disable, enable }: RuleChoice,
  rules: Rules,
): readonly DefinitionFinding[] {
  const merged = new Map<string, DefinitionFinding>();
  for (const finding of findings) {
    const isOn = rules[finding.rule]?.optional !== true || covers(enable, finding);
    if (!isOn || covers(disable, finding)) continue;
    const { definition, rule, path, message, versions } = finding;
    const key = JSON.stringify([definition, rule, path, message]);
    const known = merged.get(key)?.versions ?? [];
    merged.set(key, { ...finding, versions: [...new Set([...known, ...versions])] });
  }
  return [...merged.values()];
}

function nameOf(given: string): string {
  return given.split(':', 1)[0] ?? '';
}

/**
 * Whether one of the entries names the finding's rule, either for all paths or for a path at or above the finding's.
 */
function covers(entries: readonly string[], { rule, path }: DefinitionFinding): boolean {
  return entries.some((entry) => {
    if (nameOf(entry) !== rule) return false;
    const place = entry.slice(rule.length + 1);
    return (
      place === '' ||
      path === place ||
      (path.startsWith(place) && /^[.[]/.test(path.slice(place.length)))
    );
  });
}

/** Returns the findings for people, with a final line break. */
export function renderFindings(
  findings: readonly DefinitionFinding[],
  { color, none }: { readonly color: boolean; readonly none: string },
): string {
  if (findings.length === 0) return `${none}\n`;
  const colors = pc.createColors(color);
  const lines: string[] = [];
  for (const definition of new Set(findings.map((each) => each.definition))) {
    lines.push(colors.bold(definition));
    for (const { level, rule, versions, path, message } of findings.filter(
      (each) => each.definition === definition,
    )) {
      const place = [versions.join(', '), path].filter((part) => part !== '').join(' ');
      const paint = level === 'error' ? colors.red : colors.yellow;
      const head = paint(`${level === 'error' ? '!' : '~'} ${rule}`);
      lines.push(`  ${head}${place === '' ? '' : ` ${place}`}: ${message}`);
    }
  }
  const count = (level: Rule['level']): number =>
    findings.filter((each) => each.level === level).length;
  lines.push(`${counted(count('error'), 'error')}, ${counted(count('warning'), 'warning')}`);
  return `${lines.join('\n')}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
