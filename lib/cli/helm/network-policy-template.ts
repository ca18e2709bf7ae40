import type { Json } from '../json-values.js';
import { objectAt, objectsAt, textAt } from '../json-values.js';
import { valueLines } from './template-text.js';
import type { TemplateText } from './template-text.js';

const parts = ['metrics', 'webhook'] as const;

/** A part of the operator with a port of its own, by the name of the port. */
type Part = (typeof parts)[number];

interface PartRule {
  readonly part: Part;
  readonly rule: Json;
}

/** Returns the peers that may reach each part, from the first rule of a NetworkPolicy. */
export function peersOf(objects: readonly object[]): ReadonlyMap<Part, unknown> {
  const rules = (objects as readonly Json[]).flatMap(rulesOf).toReversed();
  return new Map(rules.map(({ part, rule }) => [part, rule['from'] ?? []]));
}

/** Takes the peers of each part from the values. @param policy - changed in place */
export function templatePolicy(policy: Json, text: TemplateText): void {
  for (const { part, rule } of rulesOf(policy)) {
    Reflect.deleteProperty(rule, 'from');
    rule[text.lines(valueLines('from', `networkPolicy.${part}From`))] = null;
  }
}

function rulesOf(object: Json): readonly PartRule[] {
  if (textAt(object, 'kind') !== 'NetworkPolicy') return [];
  return objectsAt(objectAt(object, 'spec') ?? {}, 'ingress').flatMap((rule) => {
    const ports = objectsAt(rule, 'ports').map(({ port }) => port);
    const part = parts.find((name) => ports.includes(name));
    return part === undefined ? [] : [{ part, rule }];
  });
}
