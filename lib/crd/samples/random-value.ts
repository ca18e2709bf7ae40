import { deepEqual, isJsonObject, setMember } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import type { Random } from '../../system/index.js';
import { formatSamples, joined, minimalValue } from './minimal-value.js';
import { textOfPattern } from './pattern-text.js';

/** Maximum number of entries, characters and levels in addition to those that the schema requires. */
const most = { entries: 3, characters: 12, depth: 20 } as const;

/**
 * Returns a random value of a structural schema: with or without optional fields, at or between the bounds, with empty
 * or long lists. Ignores CEL rules, `not` and unusual patterns; validate the value before use.
 */
export function randomValue(schema: Schema, random: Random): unknown {
  return new Maker(random).value(schema, 0);
}

class Maker {
  readonly #random: Random;
  /** The share of optional fields that are present. */
  readonly #density: number;

  constructor(random: Random) {
    this.#random = random;
    // The share of optional fields is random, so that both sparse and full objects occur often.
    this.#density = random.next();
  }

  value(schema: Schema, depth: number): unknown {
    const whole = joined(schema, (branches) =>
      branches.length === 0 ? [] : [this.#pick(branches as [Schema, ...Schema[]])],
    );
    const { enum: choices = [], default: byDefault, type } = whole;
    if (whole.nullable === true && this.#chance(0.1)) return null;
    if (byDefault !== undefined && this.#chance(0.2)) return structuredClone(byDefault);
    if (choices.length > 0) return this.#pick(choices as [unknown, ...unknown[]]);
    if (whole['x-kubernetes-int-or-string'] === true) {
      return this.#chance(0.5) ? this.#number({ ...whole, type: 'integer' }) : this.#text(whole);
    }
    if (whole['x-kubernetes-embedded-resource'] === true) return this.#resource(whole, depth);
    switch (type) {
      case 'string':
        return this.#text(whole);
      case 'boolean':
        return this.#chance(0.5);
      case 'integer':
      case 'number':
        return this.#number(whole);
      case 'array':
        return this.#list(whole, depth);
      case 'object':
        return this.#object(whole, depth);
      case undefined:
      default:
        return this.#anything();
    }
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }

  /** Returns an integer between two bounds, both included. */
  #between(low: number, high: number): number {
    return low + Math.floor(this.#random.next() * (high - low + 1));
  }

  #pick = <T>(choices: readonly [T, ...T[]]): T =>
    choices[this.#between(0, choices.length - 1)] ?? choices[0];

  #number(schema: Schema): number {
    const { type, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema;
    const step = multipleOf ?? (type === 'integer' ? 1 : 0.5);
    const { minimum = Math.min(-5, (schema.maximum ?? 0) - 5) } = schema;
    const { maximum = Math.max(100, minimum + 100 * step) } = schema;
    const low =
      Math.ceil(minimum / step) + (exclusiveMinimum === true && minimum % step === 0 ? 1 : 0);
    const high =
      Math.floor(maximum / step) - (exclusiveMaximum === true && maximum % step === 0 ? 1 : 0);
    if (high < low) return minimalValue(schema) as number;
    const times = this.#pick([low, high, this.#between(low, high)]);
    // Adding 0 turns -0 into 0: JSON does not keep -0.
    return times * step + 0;
  }

  #text(schema: Schema): string {
    const { format = '', pattern, minLength = 0 } = schema;
    const { maxLength = Math.max(minLength, most.characters) } = schema;
    const usual = formatSamples[format];
    if (usual !== undefined) return this.#like(usual);
    const length = this.#between(minLength, Math.min(maxLength, minLength + most.characters));
    const plain = Array.from({ length }, () => this.#pick(letters)).join('');
    if (pattern === undefined) return plain;
    const wanted = { candidates: [plain], minLength, maxLength, pick: this.#pick };
    return textOfPattern(pattern, wanted) ?? (minimalValue(schema) as string);
  }

  /** Returns a sample of a format with one digit changed, so that fields of one format rarely have equal values. */
  #like(sample: string): string {
    const digit = String(this.#between(1, 9));
    if (sample === formatSamples['byte']) return Buffer.from(`sample${digit}`).toString('base64');
    // The last digit of times, addresses and IDs. Names of hosts have no digit.
    const varied = sample.replace(/[01](?=[^01]*$)/, digit);
    return varied === sample ? sample.replace('example.', `example${digit}.`) : varied;
  }

  #list(schema: Schema, depth: number): readonly unknown[] {
    const { items = {}, minItems = 0 } = schema;
    const { maxItems = Math.max(minItems, most.entries) } = schema;
    const length = this.#between(minItems, Math.min(maxItems, minItems + most.entries));
    const made = Array.from({ length }, () => this.value(items, depth + 1));
    const kept = made.filter(
      (item, index) => !made.slice(0, index).some((before) => isSame(before, item, schema)),
    );
    return kept.length < minItems ? (minimalValue(schema) as readonly unknown[]) : kept;
  }

  #object(schema: Schema, depth: number): Readonly<Record<string, unknown>> {
    const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema;
    const fields: Record<string, unknown> = {};
    if (depth > most.depth) return minimalValue(schema) as Readonly<Record<string, unknown>>;
    for (const [name, property] of Object.entries(properties)) {
      if (!required.includes(name) && !this.#chance(this.#density)) continue;
      setMember(fields, name, this.value(property, depth + 1));
    }
    const { maxProperties = most.entries } = schema;
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
    if (typeof additionalProperties === 'object' || additionalProperties === true || isOpen) {
      const entries = typeof additionalProperties === 'object' ? additionalProperties : {};
      const count = this.#between(
        minProperties,
        Math.max(minProperties, Math.min(maxProperties, most.entries)),
      );
      const free = count - Object.keys(fields).length;
      for (let index = 0; index < free; index++) {
        setMember(fields, `${this.#pick(letters)}${index}`, this.value(entries, depth + 1));
      }
    }
    for (const [name, property] of Object.entries(properties)) {
      if (Object.keys(fields).length >= minProperties) break;
      fields[name] ??= this.value(property, depth + 1);
    }
    return fields;
  }

  #resource(schema: Schema, depth: number): Readonly<Record<string, unknown>> {
    const { properties = {}, ...rest } = schema;
    const own = Object.entries(properties).filter(([name]) => !Object.hasOwn(resource, name));
    const fields = this.#object({ ...rest, properties: Object.fromEntries(own) }, depth);
    return { ...fields, ...structuredClone(resource) };
  }

  #anything(): unknown {
    return this.#pick<unknown>(['text', 7, true, ['a', 1], { a: { b: ['c'] } }]);
  }
}

const resource = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample' } };

/** Letters of one to four bytes. */
const letters = Array.from('abcxyzABC0129-_.é漢🚀') as [string, ...string[]];

/** Whether a list must not contain both items, because its items must differ. */
function isSame(one: unknown, other: unknown, schema: Schema): boolean {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'map' && isJsonObject(one) && isJsonObject(other)) {
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    const byDefault = (key: string): unknown => schema.items?.properties?.[key]?.default;
    return keys.every((key) => deepEqual(one[key] ?? byDefault(key), other[key] ?? byDefault(key)));
  }
  return (listType === 'set' || schema.uniqueItems === true) && deepEqual(one, other);
}
