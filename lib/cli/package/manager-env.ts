import partition from 'lodash/partition.js';
import { objectsAt, textAt } from '../json-values.js';
import type { Json } from '../json-values.js';
import { movedText } from './overlay.js';
import { spreadLines } from './values.js';
import type { TemplateLines, TemplateText, ValueSchema } from './values.js';

/**
 * Returns the environment variables of a container that are values of the chart, by name. Variables with `valueFrom`
 * stay in the template, and so do variables that refer to another variable or to the operator's namespace.
 */
export function variablesOf(container: Json, namespace: string): Readonly<Record<string, string>> {
  const own = objectsAt(container, 'env').filter((one) => isValue(one, namespace));
  return Object.fromEntries(own.map((one) => [textAt(one, 'name'), textAt(one, 'value')]));
}

function isValue(variable: Json, namespace: string): boolean {
  const value = textAt(variable, 'value');
  const isLiteral = variable['valueFrom'] === undefined && !value.includes('$(');
  return isLiteral && movedText(value, { from: namespace, to: '' }) === value;
}

/** Returns a schema with a property for each variable, so that an update of a chart merges them one by one. */
export function withVariables(schema: ValueSchema, names: readonly string[]): ValueSchema {
  const { env } = schema.properties ?? {};
  if (env === undefined || names.length === 0) return schema;
  const variable = env['additionalProperties'] as ValueSchema;
  const properties = Object.fromEntries(names.map((name) => [name, variable]));
  return { ...schema, properties: { ...schema.properties, env: { ...env, properties } } };
}

/** Replaces environment variables by the values of the chart. @param container - changed in place */
export function templateEnv(container: Json, text: TemplateText, namespace: string): void {
  const fixed = objectsAt(container, 'env').filter((one) => !isValue(one, namespace));
  // Kubernetes resolves $(NAME) only to a variable that is further up.
  const [sourced, others] = partition(fixed, (one) => one['valueFrom'] !== undefined);
  const isOptional = fixed.length === 0;
  if (isOptional) {
    Reflect.deleteProperty(container, 'env');
    container[text.line('if or .Values.env .Values.extraEnv')] = null;
  }
  container['env'] = [
    text.lines(replacedLines),
    ...sourced.flatMap((one) => unlessReplaced(one, text)),
    text.lines(variableLines),
    ...others.flatMap((one) => unlessReplaced(one, text)),
    text.lines(spreadLines('extraEnv')),
  ];
  if (isOptional) container[text.line('end')] = null;
}

function unlessReplaced(variable: Json, text: TemplateText): readonly unknown[] {
  const name = JSON.stringify(textAt(variable, 'name'));
  return [text.line(`if not (hasKey $replaced ${name})`), variable, text.line('end')];
}

/** Collects the names in `extraEnv`: an API server refuses two variables of one name. */
const replacedLines: TemplateLines = (indent) =>
  indented(indent, [
    '{{- $replaced := dict }}',
    '{{- range .Values.extraEnv }}',
    '{{- $_ := set $replaced .name true }}',
    '{{- end }}',
  ]);

const variableLines: TemplateLines = (indent) =>
  indented(indent, [
    '{{- range $name, $value := .Values.env }}',
    '{{- if not (or (hasKey $replaced $name) (kindIs "invalid" $value)) }}',
    '- name: {{ $name | quote }}',
    '  value: {{ $value | quote }}',
    '{{- end }}',
    '{{- end }}',
  ]);

function indented(indent: number, lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${' '.repeat(indent)}${line}`);
}
