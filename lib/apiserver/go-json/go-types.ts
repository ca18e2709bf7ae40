import { readDocument } from '../kinds/documents.js';
import { listType, mapType, structType } from './composite-types.js';
import type { GoField } from './composite-types.js';
import type { GoType } from './go-type.js';
import {
  bytesType,
  intOrStringGoType,
  microTimeGoType,
  quantityGoType,
  rawGoType,
  scalarType,
  timeGoType,
} from './scalar-types.js';
import { schemaOrArrayType, schemaOrBoolType, schemaOrStringsType } from './json-schema-types.js';

type Declaration = string | Readonly<Record<string, string>>;

/** Types with their own JSON encoding. */
const custom: ReadonlyMap<string, (name: string) => GoType> = new Map<
  string,
  (name: string) => GoType
>([
  ['meta/v1.Time', () => timeGoType],
  ['meta/v1.MicroTime', () => microTimeGoType],
  ['meta/v1.Duration', () => scalarType('string', 'v1.Duration')],
  ['meta/v1.FieldsV1', () => rawGoType],
  ['apiextensions/v1.JSON', () => rawGoType],
  ['apiextensions/v1.JSONSchemaPropsOrBool', () => schemaOrBoolType(goType(schemaProps))],
  ['apiextensions/v1.JSONSchemaPropsOrArray', () => schemaOrArrayType(goType(schemaProps))],
  ['apiextensions/v1.JSONSchemaPropsOrStringArray', () => schemaOrStringsType(goType(schemaProps))],
  ['k8s.io/apimachinery/pkg/api/resource.Quantity', () => quantityGoType],
  ['k8s.io/apimachinery/pkg/util/intstr.IntOrString', () => intOrStringGoType],
  ['k8s.io/apimachinery/pkg/runtime.RawExtension', () => rawGoType],
]);
const schemaProps = 'apiextensions/v1.JSONSchemaProps';
const compiled = new Map<string, GoType>();

/** Returns the type with this name or expression (`apps/v1.Deployment`, `[]string`), compiled once. */
export function goType(expression: string): GoType {
  let type = compiled.get(expression);
  if (type === undefined) {
    type = compile(expression);
    compiled.set(expression, type);
  }
  return type;
}

function declarations(): Readonly<Record<string, Declaration>> {
  return readDocument('go-types') as Readonly<Record<string, Declaration>>;
}

const basic = /^(?:string|bool|u?int\d*|float\d+)$/;

function compile(expression: string): GoType {
  if (basic.test(expression)) return scalarType(expression, expression);
  if (expression === '[]byte') return bytesType;
  if (expression.startsWith('[]')) return listType(goType(expression.slice(2)));
  const map = /^map\[([^\]]+)\](.+)$/.exec(expression);
  if (map?.[2] !== undefined) return mapType(goType(map[2]), shortName(map[1] ?? ''));
  const own = custom.get(expression);
  if (own !== undefined) return own(expression);
  const declared = declarations()[expression];
  if (declared === undefined) throw new Error(`go-types: ${expression} is missing in the data`);
  if (typeof declared !== 'string') {
    return structType(shortName(expression), () => fieldsOf(declared, []));
  }
  if (basic.test(declared)) return scalarType(declared, shortName(expression));
  return goType(declared);
}

/** Returns the name in Go's messages: `v1.PullPolicy` for `core/v1.PullPolicy`. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function fieldsOf(declared: Readonly<Record<string, string>>, within: string[]): GoField[] {
  return Object.entries(declared).flatMap(([name, written]) => {
    const [, pointer, expression = '', flags = ''] = /^(\*?)(.*?)([?0]*)$/.exec(written) ?? [];
    if (name.startsWith('.')) {
      const embedded = declarations()[expression];
      if (typeof embedded !== 'object') throw new Error(`go-types: ${expression} is no struct`);
      return fieldsOf(embedded, [...within, name.slice(1)]);
    }
    return {
      name,
      goPath: [...within, name],
      type: () => goType(expression),
      pointer: pointer === '*',
      omitEmpty: flags.includes('?'),
      omitZero: flags.includes('0'),
    };
  });
}
