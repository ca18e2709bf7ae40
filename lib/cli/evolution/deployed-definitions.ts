import { resolve } from 'node:path';
import type { CustomResourceDefinition, UnstructuredObject } from '../../object/index.js';
import type { CommandContext } from '../command-context.js';
import { definitionsAt, isRevision, objectsFrom } from '../definition-sources.js';
import { exists } from '../files.js';
import type { ClusterOptions } from '../options.js';

/**
 * Reads definitions like {@link definitionsAt}, with the conversions that are deployed with them: a project has its
 * definitions in `config/crd`, and the conversions as patches in `config/default`.
 * @throws OperatorError `InvalidConfig`: a source can't be read, or there are no definitions
 */
export async function deployedDefinitions(
  sources: readonly string[],
  context: CommandContext,
  cluster?: ClusterOptions,
): Promise<readonly CustomResourceDefinition[]> {
  const definitions = await definitionsAt(sources, context, cluster);
  const folders = new Set(sources.flatMap((source) => patchFolderOf(source, context)));
  const deployed: CustomResourceDefinition[] = [];
  for (const crd of definitions) {
    const conversion = crd.spec.conversion ?? (await conversionIn(folders, crd, context));
    deployed.push(conversion === undefined ? crd : { ...crd, spec: { ...crd.spec, conversion } });
  }
  return deployed;
}

function patchFolderOf(source: string, { cwd }: CommandContext): readonly string[] {
  const path = isRevision(source) ? source : resolve(cwd, source).replaceAll('\\', '/');
  const [, project] = /^((?:.*[/:])?)config\/crd(?:\/|$)/.exec(path) ?? [];
  return project === undefined ? [] : [`${project}config/default`];
}

type Conversion = CustomResourceDefinition['spec']['conversion'];

async function conversionIn(
  folders: Iterable<string>,
  { spec: { group, names } }: CustomResourceDefinition,
  context: CommandContext,
): Promise<Conversion> {
  for (const folder of folders) {
    const file = `${folder}/conversion_in_${group}_${names.plural}.yaml`;
    const [patch] = await patchesIn(file, context);
    const { conversion } = (patch?.['spec'] ?? {}) as { readonly conversion?: Conversion };
    if (conversion !== undefined) return conversion;
  }
  return undefined;
}

/**
 * Reads a file with patches; empty if there is no such file, as for most definitions. An error of git counts as no
 * file, because git does not report whether a file is absent from a revision or can't be read.
 */
async function patchesIn(
  file: string,
  context: CommandContext,
): Promise<readonly UnstructuredObject[]> {
  if (isRevision(file)) return objectsFrom([file], context).catch(() => []);
  return (await exists(file)) ? objectsFrom([file], context) : [];
}
