import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { Document, isCollection, isMap, isPair } from 'yaml';
import type { Pair } from 'yaml';
import { expressionReference } from './reference/expression-reference.js';
import { languageNotes } from './reference/language-notes.js';
import { timeOfExamples } from './reference/operator-reference.js';
import type { OperatorReference } from './reference/operator-reference.js';
import { stageReference } from './reference/stage-reference.js';
import type { StageReference } from './reference/stage-reference.js';

const page = 'docs/declarative-reference.md';

/** Returns the page with every stage and every expression operator. */
export async function declarativeReference(): Promise<string> {
  const parts = [
    introduction(),
    '## Stages',
    ...stageReference.map(stageSection),
    '## The language of expressions',
    ...languageNotes.map(({ title, text, examples }) => section(title, [text], examples)),
    '## Operators',
    contents(),
    ...expressionReference.flatMap(({ title, operators }) => [
      `### ${title}`,
      ...operators.map(operatorSection),
    ]),
  ];
  const options = await resolveConfig(page);
  return format(parts.join('\n\n'), { ...options, filepath: page });
}

/** Returns the committed page. */
export async function committedReference(): Promise<string> {
  return readFile(page, 'utf8');
}

/** Rewrites the page. */
export async function writeDeclarativeReference(): Promise<void> {
  await writeFile(page, await declarativeReference());
}

function introduction(): string {
  return `# Declarative operators: reference

<!-- Made by scripts/docs/draw.ts from what the code says of itself: changes belong there. -->

Every stage and every operator, with examples that the specs run. The guide is
[declarative.md](declarative.md). An example of an operator has the expression, the document that it is
evaluated on (absent: any), and the result; with \`@now\` it is evaluated at ${timeOfExamples}. An example
of a stage has the documents of each source, the pipeline, and the documents that come out.`;
}

/** Returns a table of all operators, with links to the groups that explain them. */
function contents(): string {
  const rows = expressionReference.map(({ title, operators }) => {
    const names = operators.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    return `| [${title}](#${anchor(title)}) | ${names.map(code).join(' ')} |`;
  });
  return ['| | |', '| --- | --- |', ...rows].join('\n');
}

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}

function stageSection({ name, aliases, forms, does, examples }: StageReference): string {
  return section(titled(name, aliases), [formsOf(forms), does], examples);
}

function operatorSection({ name, aliases, forms, does, examples }: OperatorReference): string {
  return `#${section(titled(name, aliases), [formsOf(forms), does], examples)}`;
}

function titled(name: string, aliases: readonly string[] = []): string {
  return [name, ...aliases].map(code).join(', ');
}

function formsOf(forms: readonly string[]): string {
  return forms.map(code).join(' or ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function section(title: string, texts: readonly string[], examples: readonly object[]): string {
  return [`### ${title}`, ...texts, ...examples.map(yamlBlock)].join('\n\n');
}

/** Returns an example as YAML. Sources, stages and results take a line each; their contents are in flow style. */
function yamlBlock(example: object): string {
  const document = new Document(example, { aliasDuplicateObjects: false });
  const members = isMap(document.contents) ? document.contents.items : [];
  const ofStage = 'pipeline' in example;
  for (const value of members.flatMap((member) => (ofStage ? itemsOf(member) : member.value))) {
    if (isCollection(value)) value.flow = true;
  }
  const text = document.toString({ lineWidth: 0, singleQuote: true });
  return `\`\`\`yaml\n${text}\`\`\``;
}

function itemsOf({ value }: Pair): unknown[] {
  if (!isCollection(value)) return [];
  return value.items.map((item) => (isPair(item) ? item.value : item));
}
