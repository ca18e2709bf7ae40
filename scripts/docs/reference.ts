import { readFile, writeFile } from 'node:fs/promises';
import groupBy from 'lodash/groupBy.js';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { pages, titleOf } from './pages.js';

const page = 'docs/reference.md';

/** The page about each folder of `lib/`; the longest matching path applies. */
const folderPages: Readonly<Record<string, string>> = {
  apiserver: 'docs/embedded-cluster.md',
  apply: 'docs/builder.md',
  builder: 'docs/builder.md',
  cache: 'docs/cache.md',
  client: 'docs/from-client-node.md',
  controller: 'docs/controller.md',
  crd: 'docs/custom-resources.md',
  declarative: 'docs/declarative.md',
  events: 'docs/operator.md',
  lifecycle: 'docs/lifecycle.md',
  manager: 'docs/manager.md',
  'manager/leader-election': 'docs/leader-election.md',
  'manager/webhooks': 'docs/webhooks.md',
  object: 'docs/builder.md',
  operator: 'docs/operator.md',
  prometheus: 'docs/metrics.md',
  resource: 'docs/resource-chains.md',
  status: 'docs/operator.md',
  system: 'docs/manager.md',
  testing: 'docs/testing.md',
};

/** An exported name of an entry. */
export interface PublicName {
  /** For example `operator-builder/crd`. */
  readonly entry: string;
  readonly name: string;
  /** `function`, `class`, `constant`, `type`, or `constant, type`. */
  readonly form: string;
  /** The first sentence of its doc comment; `''` without one. */
  readonly summary: string;
  /** The defining file, relative to `lib/`. */
  readonly file: string;
}

/** Returns every exported name of every entry of package.json, by entry and name. */
export async function publicNames(): Promise<readonly PublicName[]> {
  const { exports } = JSON.parse(await readFile('package.json', 'utf8')) as {
    exports: Record<string, string | { types: string }>;
  };
  const entries = Object.entries(exports).flatMap(([key, target]) => {
    if (typeof target === 'string') return [];
    const file = target.types.replace('./dist/', 'lib/').replace(/\.d\.ts$/, '.ts');
    return [{ entry: key.replace('.', 'operator-builder'), file }];
  });
  const { config } = ts.readConfigFile('tsconfig.json', (file) => ts.sys.readFile(file)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.');
  const program = ts.createProgram({ rootNames: entries.map(({ file }) => file), options });
  const checker = program.getTypeChecker();
  return entries.flatMap(({ entry, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing`);
    return checker
      .getExportsOfModule(module)
      .map((symbol) => publicName(entry, symbol, checker))
      .toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
  });
}

function publicName(entry: string, symbol: ts.Symbol, checker: ts.TypeChecker): PublicName {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
  const text = ts.displayPartsToString(target.getDocumentationComment(checker));
  const path = target.declarations?.[0]?.getSourceFile().fileName ?? '';
  const file = path.slice(path.lastIndexOf('/lib/') + '/lib/'.length);
  const { name } = symbol;
  return { entry, name, form: formOf(target.flags), summary: firstSentence(text), file };
}

function formOf(flags: ts.SymbolFlags): string {
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Class) return 'class';
  const isType = (flags & ts.SymbolFlags.Type) !== 0;
  if (flags & ts.SymbolFlags.Value) return isType ? 'constant, type' : 'constant';
  return 'type';
}

function firstSentence(text: string): string {
  const [paragraph = ''] = text.split(/\n\s*\n|\n(?=[-|#])/);
  const plain = paragraph
    .replaceAll(/\{@link (?:[^}|]*\|)?\s*([^}]*?)\s*\}/g, '`$1`')
    .replaceAll(/\s+/g, ' ');
  const sentence = /^.*?\.(?= [A-Z`])/.exec(plain)?.[0] ?? plain;
  return sentence.replace(/:$/, '.');
}

/** Returns the page with every exported name: what it is, and the page that uses it. */
export async function reference(): Promise<string> {
  const names = await publicNames();
  const guides = pages.filter((file) => file.startsWith('docs/') && file !== page);
  const users = await Promise.all(guides.map(usedWords));
  const sections = groupBy(names, ({ entry }) => entry);
  const parts = Object.entries(sections).map(([entry, ofEntry]) => {
    const rows = ofEntry.map(({ name, form, summary, file }) => {
      const own = users.find((one) => one.file === pageOf(file));
      const user = [own, ...users].find((one) => one?.words.has(name) === true) ?? own;
      if (user === undefined) throw new Error(`${file}: no page is about this folder`);
      const link = `[${user.title}](${user.file.replace('docs/', '')})`;
      return `| \`${name}\` | ${form} | ${summary.replaceAll('|', '\\|')} | ${link} |`;
    });
    const head = ['| Name | | Purpose | Page |', '| --- | --- | --- | --- |'];
    return `## \`${entry}\`\n\n${[...head, ...rows].join('\n')}`;
  });
  const options = await resolveConfig(page);
  return format([introduction(), ...parts].join('\n\n'), { ...options, filepath: page });
}

function pageOf(file: string): string | undefined {
  const folders = Object.keys(folderPages).filter((folder) => file.startsWith(folder));
  return folderPages[folders.toSorted((a, b) => b.length - a.length)[0] ?? ''];
}

/** Returns the words in the code of a page, which is where it uses an exported name. */
async function usedWords(
  file: string,
): Promise<{ file: string; title: string; words: ReadonlySet<string> }> {
  const text = await readFile(file, 'utf8');
  const code = text.match(/```[\s\S]*?```|`[^`\n]+`/g) ?? [];
  return { file, title: await titleOf(file), words: new Set(code.join('\n').match(/\w+/g)) };
}

/** Returns the committed page. */
export function committedNames(): Promise<string> {
  return readFile(page, 'utf8');
}

/** Rewrites the page. */
export async function writeReference(): Promise<void> {
  await writeFile(page, await reference());
}

function introduction(): string {
  return `# Reference of names

<!-- Made by scripts/docs/draw.ts from the doc comments of the code: change them there. -->

Every name that an entry of the package exports, with the page to read about it. Your editor shows the whole
documentation of a name, with its options, defaults and errors.

A built-in kind such as \`Deployment\` is a constant and a type. Give the constant to functions that take a
kind, and use the type for its objects. For a kind without a constant, write
\`{ apiVersion: 'example.com/v1', kind: 'Shop' }\` instead.

If your package exports a value without a type annotation, the compiler writes its type into your declarations.
The types of \`operator-builder/types\` are for this use. Where no entry exports the type, as with the
status of a single controller in \`manager.status()\`, annotate the value by an exported name:
\`ReturnType<Manager['status']>['controllers'][number]\`.`;
}
