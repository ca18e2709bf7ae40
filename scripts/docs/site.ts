// Generates the documentation site with TypeDoc: the pages, and the API reference from the doc comments of
// exported names and the types that they mention. Warnings of TypeDoc, such as broken links, fail the run.
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Application, Converter, KindRouter, ReflectionKind, UnionType } from 'typedoc';
import type { Context, DeclarationReflection, DocumentReflection, Reflection } from 'typedoc';
import ts from 'typescript';
import { mermaidRenderer } from './mermaid.js';
import { pages, sections, titleOf } from './pages.js';

const out = 'site';

interface PackageFile {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

/** Module specifiers by the file of lib/ that each stands for. */
const entries = entriesOf(JSON.parse(await readFile('package.json', 'utf8')) as PackageFile);
const titles = new Map(
  await Promise.all(pages.map(async (page) => [page, await titleOf(page)] as const)),
);

const drawMermaid = await mermaidRenderer();

/** Pages keep the names of their files, so that addresses outlive titles. */
class PageRouter extends KindRouter {
  protected override getIdealBaseName(reflection: Reflection): string {
    if (!reflection.isDocument()) return super.getIdealBaseName(reflection);
    return pageOf(reflection).replace(/(\/README)?\.md$/, '');
  }
}

const app = await Application.bootstrapWithPlugins({
  name: 'operator-builder',
  entryPoints: [...entries.keys()],
  tsconfig: 'tsconfig.build.json',
  readme: 'README.md',
  projectDocuments: [...pages],
  out,
  plugin: ['typedoc-plugin-missing-exports'],
  excludeExternals: true,
  router: 'pages',
  groupOrder: [...sections.map(({ title }) => title), 'Modules', '*'],
  navigation: { includeGroups: true },
  // The languages of code blocks in the pages.
  highlightLanguages: ['ts', 'js', 'json', 'yaml', 'sh', 'mermaid', 'diff', 'go', 'python'],
  markdownItLoader: (parser: MarkdownParser) => {
    keepCodeOfHeadings(parser);
    drawDiagrams(parser);
  },
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  includeVersion: true,
  customJs: 'scripts/docs/versions.js',
  // `npm run typecheck` checks the types.
  skipErrorChecking: true,
});
app.renderer.defineRouter('pages', PageRouter);
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_: unknown, document: DocumentReflection) => {
  const page = pageOf(document);
  document.name = titles.get(page) ?? page;
  const section = sections.find((each) => each.pages.includes(page));
  document.frontmatter['group'] = section?.title;
});
app.converter.on(Converter.EVENT_CREATE_DECLARATION, nameModule);
app.converter.on(Converter.EVENT_CREATE_DECLARATION, keepWrittenType);

const project = await app.convert();
if (project !== undefined) {
  app.validate(project);
  await app.generateOutputs(project);
  await writeMarkdown();
}
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1;

/**
 * Adds the pages as Markdown, and `llms.txt`, the list of them for language models (https://llmstxt.org): each with
 * its first paragraph.
 */
async function writeMarkdown(): Promise<void> {
  const lines = ['# operator-builder', ''];
  const [, summary = ''] = /^# .+\n\n((?:.+\n)+)/m.exec(await readFile('README.md', 'utf8')) ?? [];
  lines.push(`> ${oneLine(summary)}`);
  for (const section of sections) {
    lines.push('', `## ${section.title}`, '');
    for (const page of section.pages) {
      const text = await readFile(page, 'utf8');
      const [, first = ''] = /^# .+\n\n(?:<!--.*-->\n\n)?((?:.+\n)+)/m.exec(text) ?? [];
      lines.push(`- [${titles.get(page) ?? page}](${page}): ${oneLine(first)}`);
      await cp(page, join(out, page));
    }
  }
  await writeFile(join(out, 'llms.txt'), `${lines.join('\n')}\n`);
}

/** Joins the lines of a paragraph, and keeps only the text of links, which are relative to the page. */
function oneLine(paragraph: string): string {
  return paragraph
    .trim()
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

interface Token {
  type: string;
  /** The language of a block of code. */
  info?: string;
  content: string;
  children: Token[] | null;
}

interface MarkdownParser {
  readonly core: {
    readonly ruler: {
      push(name: string, rule: (state: { readonly tokens: readonly Token[] }) => void): void;
    };
  };
}

/** Replaces blocks of Mermaid by their drawings. */
function drawDiagrams(parser: MarkdownParser): void {
  parser.core.ruler.push('diagrams', ({ tokens }) => {
    for (const token of tokens.filter(({ info }) => info?.trim() === 'mermaid')) {
      Object.assign(token, { type: 'html_block', content: drawMermaid(token.content) });
    }
  });
}

/** Keeps code in headings. TypeDoc would drop it from the anchors and the table of contents. */
function keepCodeOfHeadings(parser: MarkdownParser): void {
  parser.core.ruler.push('code-of-headings', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (tokens[index - 1]?.type !== 'heading_open') continue;
      const parts = (token.children ?? []).flatMap((part) => {
        if (part.type !== 'code_inline') return [part];
        const tag = (content: string): Token => ({ type: 'html_inline', content, children: null });
        return [
          tag('<code>'),
          { type: 'text', content: part.content, children: null },
          tag('</code>'),
        ];
      });
      token.children = parts;
    }
  });
}

function pageOf(document: DocumentReflection): string {
  return relative('.', app.files.getReflectionPath(document) ?? '');
}

/** Names a module by its import specifier instead of its file. */
function nameModule(context: Context, reflection: DeclarationReflection): void {
  if (!reflection.kindOf(ReflectionKind.Module)) return;
  const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile();
  reflection.name = entries.get(relative('.', file?.fileName ?? '')) ?? reflection.name;
}

/**
 * Shows the type of a property as written in the source. TypeDoc would expand an alias in a union, and the expanded
 * type of a Pod spec is 100 kB long.
 */
function keepWrittenType(context: Context, reflection: DeclarationReflection): void {
  if (!reflection.kindOf(ReflectionKind.Property)) return;
  const declaration = context.getSymbolFromReflection(reflection)?.declarations?.[0];
  if (declaration === undefined || !ts.isPropertySignature(declaration)) return;
  const { type } = declaration;
  if (type === undefined) return;
  const parts = ts.isUnionTypeNode(type) ? [...type.types] : [type];
  const shown = parts.filter(
    ({ kind }) => !reflection.flags.isOptional || kind !== ts.SyntaxKind.UndefinedKeyword,
  );
  const types = shown.map((part) => context.converter.convertType(context, part));
  const [first] = types;
  if (first !== undefined) reflection.type = types.length === 1 ? first : new UnionType(types);
}

/** Returns the import specifier of each entry, by its file in `lib/`. */
function entriesOf({ exports }: PackageFile): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(exports).flatMap(([path, target]) =>
      typeof target === 'string'
        ? []
        : [[sourceOf(target.types), join('operator-builder', path)] as const],
    ),
  );
}

function sourceOf(types: string): string {
  return types.replace(/^\.\/dist\//, 'lib/').replace(/\.d\.ts$/, '.ts');
}
