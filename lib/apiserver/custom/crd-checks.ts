import { memberSchemaOf } from '../../object/index.js';
import { keywordsWithoutStatus } from '../../crd/internal.js';
import type { FieldErrors } from '../../crd/internal.js';
import type { Schema } from '../../object/index.js';
import { validateReviewVersions, validateWebhookClient } from '../rules/admission.js';
import type { Crd, CrdVersion } from './crd.js';

/** Checks how the objects of a CRD are converted. */
export function validateConversion({ spec }: Crd, errors: FieldErrors): void {
  const { strategy = 'None', webhook } = spec.conversion ?? {};
  errors.requiredOneOf('spec.conversion.strategy', strategy, ['None', 'Webhook']);
  const field = 'spec.conversion.webhookClientConfig';
  const versionsField = 'spec.conversion.conversionReviewVersions';
  const versions = (webhook?.conversionReviewVersions as string[] | null | undefined) ?? [];
  if (strategy !== 'Webhook') {
    const why = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig !== undefined) errors.forbidden(field, why);
    if (versions.length > 0) errors.forbidden(versionsField, why);
    return;
  }
  if (webhook?.clientConfig === undefined) {
    errors.required(field, 'required when strategy is set to Webhook');
  } else validateWebhookClient(webhook.clientConfig, errors.at(field));
  validateReviewVersions(versions, '', errors.at(versionsField));
}

/** Checks the fields that all versions of a CRD share, or the fields of one version. */
export function validateVersionFields(version: CrdVersion, errors: FieldErrors): void {
  validateColumns(version, errors);
  validateScale(version, errors.at('subresources.scale'));
}

/**
 * Checks the root of the schema of a version with the subresource `status`. Only some keywords are allowed there,
 * because the server validates the status separately.
 */
export function validateRoot(root: Schema, errors: FieldErrors): void {
  const { type = '' } = root as { readonly type?: string };
  if (type !== '' && type !== 'object') {
    const why =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.invalid('type', type, why);
  }
  if (keywordsWithoutStatus(root).length === 0) return;
  const allowed =
    'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';
  const why = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
  errors.invalid('', root, why);
}

const columnFormats = 'byte,date,date-time,double,float,int32,int64,password';
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];

function validateColumns(version: CrdVersion, errors: FieldErrors): void {
  errors.each('additionalPrinterColumns', version.additionalPrinterColumns, (column, errors) => {
    const { name, type, jsonPath, format = '' } = column;
    if (name === '') errors.required('name');
    const oneOf = `must be one of ${columnTypes.join(',')}`;
    if (type === '') errors.required('type', oneOf);
    else if (!columnTypes.includes(type)) errors.invalid('type', type, oneOf);
    if (format !== '' && !columnFormats.split(',').includes(format)) {
      errors.invalid('format', format, `must be one of ${columnFormats}`);
    }
    if (jsonPath === '') errors.required('JSONPath');
    else validateSimplePath(jsonPath, errors.at('JSONPath'));
  });
}

const simplePath = 'must be a simple json path starting with .';

function validateSimplePath(path: string, errors: FieldErrors): boolean {
  if (path.startsWith('.')) return true;
  errors.invalid('', path, simplePath);
  return false;
}

function validateScale({ subresources }: CrdVersion, errors: FieldErrors): void {
  const scale = subresources?.scale;
  if (scale === undefined) return;
  const under = (path: string, ...roots: string[]): boolean =>
    roots.some((root) => path.startsWith(`${root}.`));
  const {
    specReplicasPath: wanted,
    statusReplicasPath: found,
    labelSelectorPath: selector,
  } = scale;
  if (wanted === '') errors.required('specReplicasPath');
  else if (validateSimplePath(wanted, errors.at('specReplicasPath'))) {
    if (!under(wanted, '.spec')) {
      errors.invalid('specReplicasPath', wanted, 'should be a json path under .spec');
    }
  }
  if (found === '') errors.required('statusReplicasPath');
  else if (validateSimplePath(found, errors.at('statusReplicasPath'))) {
    if (!under(found, '.status')) {
      errors.invalid('statusReplicasPath', found, 'should be a json path under .status');
    }
  }
  if (selector === undefined || selector === '') return;
  if (!validateSimplePath(selector, errors.at('labelSelectorPath'))) return;
  if (under(selector, '.spec', '.status')) return;
  const why = 'should be a json path under either .spec or .status';
  errors.invalid('labelSelectorPath', selector, why);
}

const mostSelectable = 8;

/** Checks the selectable fields of a version whose schema is valid. */
export function validateSelectable(version: CrdVersion, errors: FieldErrors): void {
  const paths = new Set<string>();
  errors.each('selectableFields', version.selectableFields, ({ jsonPath }, errors) => {
    const at = 'jsonPath';
    if (jsonPath === '') {
      errors.required(at);
      return;
    }
    const found = selected(version.schema?.openAPIV3Schema ?? {}, jsonPath);
    if (typeof found === 'string') {
      errors.invalid(at, jsonPath, `is an invalid path: ${found}`);
      return;
    }
    if (/^\.metadata(?:\.|$)/.test(jsonPath)) {
      errors.invalid(at, jsonPath, 'must not point to fields in metadata');
    }
    if (!['string', 'boolean', 'integer'].includes(found.type ?? '')) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.invalid(at, jsonPath, why);
    }
    errors.unique(at, jsonPath, paths);
  });
  if (paths.size > mostSelectable) errors.tooMany('selectableFields', paths.size, mostSelectable);
}

/** Returns the schema that a path leads to, or why it leads to none. */
function selected(root: Schema, jsonPath: string): Schema | string {
  let schema = root;
  for (const [step = ''] of jsonPath.matchAll(/\.[^.[]*|\[|[^.[]+/g)) {
    if (step === '[') return 'array notation is not allowed';
    if (step === '.') return 'unexpected end of JSON path';
    if (!step.startsWith('.')) return `expected [ or . but got: ${step}`;
    const next = memberSchemaOf(schema, step.slice(1));
    if (next === undefined) return 'does not refer to a valid field';
    schema = next;
  }
  return schema;
}
