import { expect } from 'chai';
import groupBy from 'lodash/groupBy.js';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { minimalValue } from '../../lib/crd/samples/minimal-value.js';
import type { CustomResource } from '../../lib/crd/index.js';
import type { KubernetesObject, Schema, StatusCause } from '../../lib/object/index.js';
import { cli } from '../cli/cli.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { foreignDefinitions, foreignProjects } from './foreign-definitions.js';

type Kind = CustomResource<KubernetesObject, never>;

describe('types of CustomResourceDefinitions of other projects', () => {
  let plane: ControlPlane;
  let folder: string;

  before(async () => {
    plane = await sharedControlPlane();
    // The folder is within the repository, so that the modules find this package.
    await mkdir('.cache', { recursive: true });
    folder = await mkdtemp(resolve('.cache/foreign-types-'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const project of foreignProjects) {
    it(`validate objects of ${project} as the real server does`, async () => {
      const out = join(folder, project.replaceAll(' ', '-'));
      const written = await cli(['types', await foreignDefinitions(project), '--out', out]);
      expect(written).to.deep.include({ code: 0, stderr: '' });
      const files = (await readdir(out, { recursive: true })).filter(isModule);
      const kinds = await Promise.all(files.map((file) => kindOf(join(out, file))));
      // The versions of a kind are compared in sequence: they share a CRD, which has one version at a time.
      const definitions = Object.values(groupBy(kinds, ({ crd }) => crd.metadata.name));
      await Promise.all(
        definitions.map(async (versions) => {
          for (const kind of versions) await compare(plane, kind);
        }),
      );
    }).timeout(300_000);
  }

  it('compile under strict, without skipLibCheck', async () => {
    // The modules import this package as `npm run build` has built it.
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{
        skipLibCheck: false,
        noEmit: true,
        target: 'es2023',
        module: 'nodenext',
        types: ['node'],
      },
    };
    const config = { compilerOptions, include: ['.'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiled = promisify(execFile)('npx', ['tsc', '-p', folder], { maxBuffer: 1e8 });
    const output = await compiled.then(
      ({ stdout }) => stdout,
      (error: unknown) => (error as { readonly stdout: string }).stdout,
    );
    expect(output).to.equal('');
  }).timeout(300_000);
});

function isModule(file: string): boolean {
  return file.endsWith('.ts');
}

/** Returns the value that a generated module exports. */
async function kindOf(file: string): Promise<Kind> {
  const exported = (await import(pathToFileURL(file).href)) as Readonly<Record<string, Kind>>;
  const [kind] = Object.values(exported);
  if (kind === undefined) throw new Error(`${file} exports nothing`);
  return kind;
}

/** Installs the definition with the kind's version only, and compares the verdicts on several objects. */
async function compare(plane: ControlPlane, kind: Kind): Promise<void> {
  const { crd } = kind;
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  // Groups of *.k8s.io need the approval of the Kubernetes project.
  const approval = { 'api-approved.kubernetes.io': 'unapproved, a spec' };
  const metadata = { ...crd.metadata, annotations: approval };
  const created = await plane.api.send({
    ...{ method: 'POST', path: definitions },
    body: { ...crd, metadata },
  });
  expect(created.status, created.text).to.equal(201);
  const definition = `${definitions}/${crd.metadata.name}`;
  try {
    const base = `/apis/${kind.group}/${kind.version}`;
    const path = `${base}${kind.namespaced ? '/namespaces/default' : ''}/${kind.plural}`;
    await eventually(async () => {
      expect((await plane.api.send({ path })).status).to.equal(200);
    });
    for (const object of objectsOf(kind)) await compareVerdicts(plane, kind, { path, object });
  } finally {
    await plane.api.send({ method: 'DELETE', path: definition });
    await eventually(async () => {
      expect((await plane.api.send({ path: definition })).status).to.equal(404);
    });
  }
}

async function compareVerdicts(
  plane: ControlPlane,
  kind: Kind,
  { path, object }: { readonly path: string; readonly object: KubernetesObject },
): Promise<void> {
  const request = { method: 'POST', path: `${path}?dryRun=All`, body: object };
  const { status, text } = await plane.api.send(request);
  const { details } = JSON.parse(text) as {
    readonly details?: { readonly causes?: StatusCause[] };
  };
  const ours = kind.validate(object);
  const context = `${JSON.stringify(object)} ${text}`;
  expect(ours.length === 0, context).to.equal(status === 201);
  expect(fieldsOf(ours), context).to.deep.equal(fieldsOf(details?.causes ?? []));
}

function fieldsOf(causes: readonly StatusCause[]): readonly string[] {
  return [...new Set(causes.map(({ field = '' }) => field))].toSorted();
}

/** Returns a minimal object, one without a spec, and objects with a wrong value in each field of the spec. */
function objectsOf(kind: Kind): readonly KubernetesObject[] {
  const spec: Schema = kind.schema().properties?.['spec'] ?? { type: 'object' };
  const metadata = { name: 'a', ...(kind.namespaced && { namespace: 'default' }) };
  const type = { apiVersion: kind.apiVersion, kind: kind.kind, metadata };
  const minimal = minimalValue(spec) as Readonly<Record<string, unknown>>;
  const wrong = Object.keys(spec.properties ?? {}).flatMap((field) =>
    [-1, '-', [{}], {}, true].map((value) => ({ ...type, spec: { ...minimal, [field]: value } })),
  );
  return [type, { ...type, spec: {} }, { ...type, spec: minimal }, ...wrong];
}
