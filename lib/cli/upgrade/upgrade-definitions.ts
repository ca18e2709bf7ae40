import omit from 'lodash/omit.js';
import { ensureCrd } from '../../client/index.js';
import type { Client } from '../../client/index.js';
import type { EmbeddedCluster } from '../../apiserver/index.js';
import type { OperatorDefinition, OperatorResource } from '../../manager/index.js';
import {
  isApiError,
  fieldPath,
  valueAtPath,
  diffObjects,
  referenceTo,
  groupOf,
  versionOf,
} from '../../object/index.js';
import type {
  CustomResourceDefinition,
  UnstructuredObject,
  ObjectReference,
  StatusCause,
} from '../../object/index.js';
import { asError } from '../../system/index.js';
import { versionsWithout } from '../evolution/versions.js';
import { objectsIn } from './cluster-state.js';
import { isServedIn, rehearseMigration } from './rehearse-migration.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Effects, Finding, HarmlessChange } from './upgrade-report.js';

/** The effects of new definitions on stored objects. */
export interface DefinitionsResult extends Effects {
  /** Objects on which the new version can't be tried. */
  readonly skipped: readonly ObjectReference[];
}

const noEffects: DefinitionsResult = { findings: [], changes: [], skipped: [] };

/** Two versions of an operator, and the objects stored with the old definitions. */
export interface DefinitionsUpgrade {
  readonly from: OperatorDefinition;
  readonly to: OperatorDefinition;
  /** The definitions of `to`, as a cluster has them. */
  readonly crds: readonly CustomResourceDefinition[];
  readonly stored: readonly UnstructuredObject[];
  readonly cluster: EmbeddedCluster;
}

/**
 * Upgrades the definitions of a cluster, and checks the stored objects: lost fields, new defaults,
 * whether they could still be created, and their conversion to another storage version.
 */
export async function upgradeDefinitions(upgrade: DefinitionsUpgrade): Promise<DefinitionsResult> {
  const { from, to, crds, stored, cluster } = upgrade;
  const results: DefinitionsResult[] = [];
  const client = cluster.client();
  for (const crd of crds) {
    const { group, names } = crd.spec;
    const own = stored.filter(
      ({ apiVersion, kind }) => kind === names.kind && groupOf(apiVersion) === group,
    );
    const gone = versionsGone(crd, cluster);
    const refused = gone.length > 0 ? gone : await installed(crd, cluster);
    if (refused.length > 0) {
      const skipped = own.map((object) => referenceTo(object));
      results.push({ ...noEffects, findings: refused, skipped });
      continue;
    }
    const read: DefinitionsResult[] = [];
    for (const object of own) read.push(await readAgain(object, crd, client));
    const accepted = own.filter((_, index) => read[index]?.skipped.length === 0);
    const migrated = await rehearseMigration(accepted, crd, cluster);
    results.push(...read, { ...noEffects, ...migrated });
  }
  // The operator does not define foreign kinds, such as built-in ones.
  const unserved = stored.filter(
    (object) => resourceOf(object, from) !== undefined && resourceOf(object, to) === undefined,
  );
  return {
    findings: [...results.flatMap(({ findings }) => findings), ...unserved.map(withoutDefinition)],
    changes: results.flatMap(({ changes }) => changes),
    skipped: results.flatMap(({ skipped }) => skipped),
  };
}

/** Returns the resource of an object's kind; undefined if the operator does not define the kind. */
export function resourceOf(
  { apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>,
  { resources = [] }: OperatorDefinition,
): OperatorResource | undefined {
  return resources.find((each) => each.kind === kind && each.group === groupOf(apiVersion));
}

function withoutDefinition(object: UnstructuredObject): Finding {
  const message = `the new version does not define ${object.kind} of ${groupOf(object.apiVersion)}`;
  const remedy = 'keep the resource in the operator as long as objects of the kind exist';
  return finding('version', referenceTo(object), { message, remedy });
}

/**
 * Returns a finding for each version in `status.storedVersions` that the new definition lacks: a real server rejects
 * such a definition.
 */
function versionsGone(crd: CustomResourceDefinition, cluster: EmbeddedCluster): readonly Finding[] {
  const { name } = crd.metadata;
  const live = [...objectsIn(cluster.snapshot()).values()].find(
    ({ kind, metadata }) => kind === 'CustomResourceDefinition' && metadata.name === name,
  ) as CustomResourceDefinition | undefined;
  const ref = withoutUid(referenceTo(crd));
  const storedIn = live?.status?.storedVersions ?? [];
  return versionsWithout(crd, storedIn).map(({ version, message, remedy }) => {
    const changes = [{ path: 'spec.versions', from: version, to: undefined }];
    return finding('version', ref, { message, changes, remedy });
  });
}

/** Returns findings for objects in versions that the new operator no longer serves. */
export function unserved(
  given: readonly UnstructuredObject[],
  operator: OperatorDefinition,
): readonly Finding[] {
  return given.flatMap((object) => {
    const { apiVersion } = object;
    const resource = resourceOf(object, operator);
    const { versions = [] } = resource?.crd.spec ?? {};
    const isServed = versions.some(({ name, served }) => name === versionOf(apiVersion) && served);
    if (resource === undefined || isServed) return [];
    const message = `${apiVersion} is no longer served: files and clients that name it fail`;
    const remedy = 'serve it, deprecated, until it is unused';
    return [finding('version', referenceTo(object), { message, remedy })];
  });
}

async function installed(
  crd: CustomResourceDefinition,
  cluster: EmbeddedCluster,
): Promise<readonly Finding[]> {
  try {
    await ensureCrd(cluster.client(), crd, { clock: cluster.clock });
    return [];
  } catch (thrown) {
    const message = `the server refuses the new definition: ${asError(thrown).message}`;
    return [finding('refused', withoutUid(referenceTo(crd)), { message })];
  }
}

/** Returns how the new definition changes a stored object in reads, and why it would refuse to create the object. */
async function readAgain(
  object: UnstructuredObject,
  crd: CustomResourceDefinition,
  client: Client,
): Promise<DefinitionsResult> {
  const ref = withoutUid(referenceTo(object));
  const { apiVersion, kind, metadata } = object;
  // A finding about the version reports this already.
  if (!isServedIn(crd, versionOf(apiVersion))) return noEffects;
  const { name = '', namespace } = metadata;
  const read = await client.get({ apiVersion, kind }, { name, namespace });
  const changes = diffObjects(object, read, { ignore: ['metadata'] });
  const lost = changes.filter(({ from }) => from !== undefined);
  const got = changes.filter(({ from }) => from === undefined);
  const findings = lost.length === 0 ? [] : [dropped(ref, lost)];
  const filled: HarmlessChange[] =
    got.length === 0 ? [] : [{ action: 'configure', ref, changes: got, note: 'by defaults' }];
  const causes = await refusalOf(object, client);
  if (causes === undefined) return { ...noEffects, findings, changes: filled };
  const fields = causes.map(({ field = '' }) => field).filter((field) => field !== '');
  const said = causes.map(({ field = '', message = '' }) => `${field}: ${message}`).join('; ');
  const schema = finding('schema', ref, {
    message: `it is no longer valid: ${said}`,
    changes: [...new Set(fields)].map((field) => ({
      ...{ path: field, to: undefined },
      from: valueAt(object, field),
    })),
    remedy:
      'allow the stored values, or correct them before the upgrade: updates pass only while these fields are unchanged',
  });
  // Unlike a real server, the embedded cluster would reject every update of the invalid object.
  return {
    ...{ findings: [...findings, schema], changes: filled, skipped: [referenceTo(object)] },
  };
}

function dropped(ref: ObjectReference, changes: Finding['changes']): Finding {
  const fields = changes.map(({ path }) => path).join(', ');
  const message = `${fields} is not in the new schema: it is dropped as soon as the object is written`;
  const remedy = 'keep the field in the schema, or read it in a conversion';
  return finding('dropped', ref, { message, changes, remedy });
}

/** Returns the causes for which the server would reject the object on creation; undefined if it would not. */
async function refusalOf(
  object: UnstructuredObject,
  client: Client,
): Promise<readonly StatusCause[] | undefined> {
  const { name, namespace, labels, annotations } = object.metadata;
  const place = namespace === undefined ? {} : { namespace };
  const own = {
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
  };
  const metadata = { generateName: `${name ?? ''}-`, ...place, ...own };
  try {
    await client.create({ ...omit(object, 'status'), metadata } as UnstructuredObject, {
      dryRun: true,
    });
    return undefined;
  } catch (error) {
    // The conversion fails. `rehearseMigration` reports that.
    if (isApiError(error) && error.status === 500) return undefined;
    if (!isApiError(error) || error.status !== 422) throw error;
    return error.causes;
  }
}

/** Returns the value of a field; undefined in lists, where only the index is known. */
function valueAt(object: UnstructuredObject, field: string): unknown {
  return field.includes('[') ? undefined : valueAtPath(object, fieldPath(...field.split('.')));
}
