import { FieldErrors, validateStructure } from '../../crd/internal.js';
import type { CustomResourceDefinition, Schema } from '../../object/index.js';
import { shortened } from '../../system/index.js';
import { schemaChanges } from './compare-schemas.js';
import type { DefinitionFinding } from './findings.js';
import { lintFields } from './lint-fields.js';
import type { LintProblem } from './lint-fields.js';
import { lintRules } from './lint-rules.js';
import { schemaAt } from './schema-path.js';
import { isConverted, schemaOf, storageOf } from './versions.js';
import type { CrdVersion } from './versions.js';

/** Returns the problems of CustomResourceDefinitions by the conventions of Kubernetes APIs. */
export function lintDefinitions(
  definitions: readonly CustomResourceDefinition[],
): readonly DefinitionFinding[] {
  return definitions.flatMap((crd) => {
    const finding = ({ rule, path, message }: LintProblem, versions: readonly string[]) => ({
      ...{ level: lintRules[rule].level, rule, path, message, versions },
      definition: crd.metadata.name ?? '',
    });
    return [
      ...nameProblems(crd, definitions).map((problem) => finding(problem, [])),
      ...conversionProblems(crd).map(({ version, ...problem }) => finding(problem, [version])),
      ...crd.spec.versions
        .filter(({ served }) => served)
        .flatMap((version) =>
          versionProblems(version).map((each) => finding(each, [version.name])),
        ),
    ];
  });
}

/** Names and short names of built-in kinds, as kubectl resolves them. */
const builtInNames = new Set(
  (
    'all cm configmaps cj cronjobs crd crds csr deploy deployments ds daemonsets ep endpoints ev events hpa ing ' +
    'ingresses jobs limits netpol no nodes ns namespaces pc pdb po pods pv pvc quota rc roles rs replicasets sa ' +
    'sc secrets services sts statefulsets svc'
  ).split(' '),
);

function nameProblems(
  crd: CustomResourceDefinition,
  definitions: readonly CustomResourceDefinition[],
): readonly LintProblem[] {
  const { names } = crd.spec;
  const problems: LintProblem[] = [];
  if (!/^[A-Z][A-Za-z0-9]*$/.test(names.kind)) {
    const message = `the kind ${names.kind} is not in CamelCase`;
    problems.push({ rule: 'kind-name', path: 'spec.names.kind', message });
  }
  const others = definitions.filter(({ metadata }) => metadata.name !== crd.metadata.name);
  for (const shortName of names.shortNames ?? []) {
    const other = others.find(({ spec }) => shortNames(spec).includes(shortName));
    const owner = builtInNames.has(shortName) ? 'a built-in kind' : other?.metadata.name;
    if (owner === undefined) continue;
    const message = `the short name ${shortName} is also that of ${owner}: kubectl finds only one of them`;
    problems.push({ rule: 'name-clash', path: 'spec.names.shortNames', message });
  }
  return problems;
}

function shortNames({ names }: CustomResourceDefinition['spec']): readonly string[] {
  return [...(names.shortNames ?? []), names.plural, names.singular ?? names.kind.toLowerCase()];
}

function conversionProblems(
  crd: CustomResourceDefinition,
): readonly (LintProblem & { readonly version: string })[] {
  if (isConverted(crd)) return [];
  const storage = storageOf(crd);
  const others = crd.spec.versions.filter(({ name, served }) => served && name !== storage.name);
  return others.flatMap((other) => [...lostFields(other, storage), ...lostFields(storage, other)]);
}

/** Returns the fields of `from` that an object loses if it is written through the version `to`, or stored in it. */
function lostFields(
  from: CrdVersion,
  to: CrdVersion,
): readonly (LintProblem & { readonly version: string })[] {
  return schemaChanges(schemaOf(from), schemaOf(to))
    .filter(({ rule }) => rule === 'field-removed')
    .map(({ path }) => ({
      ...{ rule: 'conversion-loses-fields', version: from.name, path },
      message: `${to.name} lacks the field, and no webhook converts: an object that is written or stored in ${to.name} loses it`,
    }));
}

function versionProblems(version: CrdVersion): readonly LintProblem[] {
  const schema = schemaOf(version);
  const problems: LintProblem[] = [...structureProblems(schema), ...pathProblems(version, schema)];
  const add = (rule: LintProblem['rule'], path: string, message: string): void =>
    void problems.push({ rule, path, message });
  if (!/^v[1-9]\d*(?:(?:alpha|beta)[1-9]\d*)?$/.test(version.name)) {
    add(
      'version-name',
      '',
      `the version ${version.name} sorts after all of the form v1, v1beta1 and v1alpha1`,
    );
  }
  const { properties = {} } = schema;
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) {
    add(
      'preserve-unknown-fields',
      '',
      'the whole object keeps unknown fields, so that the server does not report misspelt ones',
    );
  }
  const usual = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
  const unusual = Object.keys(properties).filter((name) => !usual.includes(name));
  if (unusual.length > 0) {
    add(
      'top-level-fields',
      '',
      `fields other than spec and status: ${unusual.join(', ')}; put what users set into spec`,
    );
  }
  if (properties['status'] !== undefined && version.subresources?.status === undefined) {
    add(
      'status-subresource',
      'status',
      'the status has no subresource: writes of the spec can overwrite it, and writes of the status increase the generation',
    );
  }
  return [...problems, ...lintFields(schema)];
}

/** The share of the cost limit from which a rule counts as expensive. */
const expensive = 0.5;

function structureProblems(schema: Schema): readonly LintProblem[] {
  const errors = new FieldErrors();
  const costs: { readonly field: string; readonly share: number }[] = [];
  validateStructure(schema, {
    field: '',
    errors,
    onCost: (field, share) => costs.push({ field, share }),
  });
  const refused = errors.causes.map(({ field = '', message = '' }): LintProblem => ({
    ...{ rule: 'invalid-schema', path: fieldOf(field), message: shortened(message, longest) },
  }));
  const dear = costs.filter(({ share }) => share >= expensive && share <= 1);
  return [
    ...refused,
    ...dear.map(({ field, share }): LintProblem => ({
      ...{ rule: 'rule-cost', path: fieldOf(field) },
      message: `the estimated cost of the CEL rule is ${Math.round(share * 100)} % of the limit; set maxItems, maxLength and maxProperties where it loops`,
    })),
  ];
}

/** Turns a place in a schema, `.properties[spec].items`, into the path of the field. */
function fieldOf(place: string): string {
  return place
    .replace(/\.x-kubernetes-.*$/, '')
    .replaceAll(/\.?properties\[(.*?)\]/g, '.$1')
    .replaceAll('.items', '[*]')
    .replaceAll('.additionalProperties', '.*')
    .replace(/^\./, '');
}

const longest = 300;

function pathProblems(version: CrdVersion, schema: Schema): readonly LintProblem[] {
  const { additionalPrinterColumns = [], selectableFields = [] } = version;
  const columns = additionalPrinterColumns
    .filter(({ jsonPath }) => schemaAt(schema, jsonPath) === undefined)
    .map(({ name, jsonPath }): LintProblem => ({
      ...{ rule: 'printer-column', path: jsonPath.replace(/^\./, '') },
      message: `the column ${name} stays empty: the schema has no such field`,
    }));
  const selectable = selectableFields.flatMap(({ jsonPath }): readonly LintProblem[] => {
    const { type = 'no field' } = schemaAt(schema, jsonPath) ?? {};
    if (['string', 'integer', 'boolean'].includes(type)) return [];
    const message = `a selectable field must be a string, integer or boolean, got ${type}`;
    return [{ rule: 'selectable-field', path: jsonPath.replace(/^\./, ''), message }];
  });
  return [...columns, ...selectable];
}
