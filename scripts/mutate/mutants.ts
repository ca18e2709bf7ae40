/**
 * Generates mutants of a source text: single small changes that a spec should detect. All mutants are in one text,
 * each behind a switch, so that switching to another one needs no compilation.
 */
import { createHash } from 'node:crypto';
import ts from 'typescript';

/** A change of one place in a file. */
export interface Mutant {
  /** Path from the root of the project. */
  readonly file: string;
  readonly kind: MutantKind;
  /** First line of the place, from 1. */
  readonly line: number;
  /** Offsets of the place in the text. */
  readonly start: number;
  readonly end: number;
  /** Text to run instead; empty for a dropped statement. */
  readonly replacement: string;
  /** Change as a reader sees it: `a < b → a <= b`. It identifies the mutant after its lines have moved. */
  readonly change: string;
}

export type MutantKind =
  | 'comparison' // `<` for `<=`, `!==` for `===`
  | 'condition' // the condition of an `if`, a loop or `? :` is negated
  | 'logic' // `||` for `&&`
  | 'statement' // a call, an assignment to a field or a `delete` is dropped
  | 'await' // `await` is removed
  | 'constant' // the next number, the other boolean
  | 'text' // another string
  | 'name' // a name is dropped from a list of names: `{ a: true, b: true }`
  | 'empty'; // an empty array, a `return` without its value

/** Returns every mutant of `text`, in the order of their places. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS);
  const found: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (hasNoBehaviour(node)) return;
    for (const [kind, place, replacement] of changesOf(node, source)) {
      const start = place.getStart(source);
      const { line } = source.getLineAndCharacterOfPosition(start);
      const change = `${brief(place.getText(source))} → ${brief(replacement) || '(dropped)'}`;
      const { end } = place;
      found.push({ file, kind, line: line + 1, start, end, replacement, change });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

/**
 * Returns `count` mutants drawn by `seed`. The draw depends only on the seed and the text of a mutant, so
 * that an unrelated change of the sources keeps the rest of a sample.
 */
export function drawn(mutants: readonly Mutant[], seed: number, count: number): Mutant[] {
  const seen = new Map<string, number>();
  const ranked = mutants.map((mutant) => {
    const name = `${mutant.file}\n${mutant.kind}\n${mutant.change}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    const rank = createHash('sha1').update(`${seed}\n${name}\n${nth}`).digest('hex');
    return { mutant, rank };
  });
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}

/** Name of the environment variable that holds the number of the mutant to run. */
export const switchName = 'OPERATOR_BUILDER_MUTANT';

/**
 * Returns `text` with all `mutants` in it. Mutant number n runs if the environment variable
 * {@link switchName} is n at the start of the process. Keeps the numbers of the lines.
 */
export function withSwitches(text: string, mutants: ReadonlyMap<number, Mutant>): string {
  if (mutants.size === 0) return text;
  const edits = [...mutants].map(([number, { start, end, kind, replacement }]): Edit => {
    const write = (inner: string): string =>
      kind === 'statement'
        ? `{if(__mutant!==${number}){${inner}}}`
        : kind === 'name'
          ? `...(__mutant===${number}?{}:{${inner}})`
          : kind === 'empty' && replacement.startsWith('return')
            ? `{if(__mutant===${number})${replacement}${inner}}`
            : `(__mutant===${number}?(${replacement}):(${inner}))`;
    return { start, end, write };
  });
  const prelude = `const __mutant=Number(globalThis.process?.env.${switchName}??-1);`;
  return afterShebang(text, prelude, edits);
}

/** A place of a text and how to write it; places may lie within each other. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly write: (inner: string) => string;
}

/** Returns `text` with `prelude` in its first line of code and all `edits` made. */
export function afterShebang(text: string, prelude: string, edits: readonly Edit[]): string {
  const first = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0;
  const sorted = [...edits].sort((a, b) => a.start - b.start || b.end - a.end);
  return text.slice(0, first) + prelude + edited(text, sorted, first, text.length);
}

/**
 * Returns the text from `from` to `to` with all edits made. An edit within another one is made first, and the outer
 * edit gets the result.
 */
function edited(text: string, edits: readonly Edit[], from: number, to: number): string {
  let written = '';
  let at = from;
  for (const [index, edit] of edits.entries()) {
    // An outer edit has already made this one.
    if (edit.start < at) continue;
    const within = edits.slice(index + 1).filter(({ start }) => start < edit.end);
    written += text.slice(at, edit.start) + edit.write(edited(text, within, edit.start, edit.end));
    at = edit.end;
  }
  return written + text.slice(at, to);
}

type Change = readonly [kind: MutantKind, place: ts.Node, replacement: string];

function changesOf(node: ts.Node, source: ts.SourceFile): Change[] {
  const text = (of: ts.Node): string => of.getText(source);
  if (ts.isBinaryExpression(node)) return binaryChanges(node, text);
  if (ts.isExpressionStatement(node)) {
    return isEffect(node.expression) ? [['statement', node, '']] : [];
  }
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return negated(node.expression, text);
  if (ts.isConditionalExpression(node)) return negated(node.condition, text);
  if (ts.isAwaitExpression(node)) return [['await', node, text(node.expression)]];
  if (ts.isNumericLiteral(node) && !isName(node)) {
    if (isSign(node)) return [['constant', node, node.text === '0' ? '1' : '(-1)']];
    return [['constant', node, String(Number(node.text.replaceAll('_', '')) + 1)]];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) {
    if (isListed(node.parent)) return isCompiled(node) ? [] : [['name', node.parent, '']];
    return [['constant', node, 'false']];
  }
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [['constant', node, 'true']];
  if (ts.isStringLiteral(node)) return isValue(node) ? [['text', node, "'mutated'"]] : [];
  if (ts.isArrayLiteralExpression(node)) {
    return node.elements.length > 0 && !isTarget(node) ? [['empty', node, '[]']] : [];
  }
  if (ts.isReturnStatement(node) && node.expression !== undefined) {
    return isPlain(node.expression) ? [] : [['empty', node, 'return undefined;']];
  }
  return [];
}

const flipped = new Map([
  ['===', '!=='],
  ['!==', '==='],
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
]);
const swapped = new Map([
  ['&&', '||'],
  ['||', '&&'],
]);

function binaryChanges(node: ts.BinaryExpression, text: (of: ts.Node) => string): Change[] {
  const operator = text(node.operatorToken);
  const left = text(node.left);
  const right = text(node.right);
  const other = flipped.get(operator);
  if (other !== undefined) return [['comparison', node, `${left} ${other} ${right}`]];
  const opposite = swapped.get(operator);
  if (opposite === undefined) return [];
  return [['logic', node, `(${left}) ${opposite} (${right})`]];
}

/** Returns the negation of a condition; nothing for a single equality, whose comparison has the same mutant. */
function negated(condition: ts.Expression, text: (of: ts.Node) => string): Change[] {
  if (ts.isBinaryExpression(condition) && /^[!=]==$/.test(text(condition.operatorToken))) return [];
  return [['condition', condition, `!(${text(condition)})`]];
}

/**
 * Returns true for a result of a comparison, as in `a < b ? -1 : a > b ? 1 : 0`. Only its sign matters, so 2 for 1
 * would change nothing. The mutant has the other sign.
 */
function isSign(node: ts.NumericLiteral): boolean {
  let top: ts.Node = node;
  while (ts.isPrefixUnaryExpression(top.parent) || isBranch(top)) top = top.parent;
  const results = ts.isConditionalExpression(top) ? resultsOf(top) : [];
  return results.includes('-1') && results.every((result) => /^(?:-1|0|1)$/.test(result));
}

function isBranch({ parent, pos }: ts.Node): boolean {
  return ts.isConditionalExpression(parent) && pos > parent.condition.pos;
}

function resultsOf(expression: ts.Expression): string[] {
  if (!ts.isConditionalExpression(expression)) return [expression.getText()];
  return [expression.whenTrue, expression.whenFalse].flatMap(resultsOf);
}

/** Returns true for an expression that changes something: a call, an assignment to a field, a `delete`. */
function isEffect(expression: ts.Expression): boolean {
  if (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression)) {
    return isEffect(expression.expression);
  }
  if (ts.isCallExpression(expression)) {
    return expression.expression.kind !== ts.SyntaxKind.SuperKeyword;
  }
  if (ts.isBinaryExpression(expression)) {
    const { left, operatorToken } = expression;
    return (
      isAssignment(operatorToken) &&
      (ts.isPropertyAccessExpression(left) || ts.isElementAccessExpression(left))
    );
  }
  return (
    ts.isDeleteExpression(expression) ||
    ((ts.isPostfixUnaryExpression(expression) || ts.isPrefixUnaryExpression(expression)) &&
      ts.isPropertyAccessExpression(expression.operand))
  );
}

function isAssignment({ kind }: ts.Node): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

const message = /error|warn|log\b|message|text|problem|cause|describe|hint|help|option|argument/i;

/** Returns true for code that specs need not check: types, imports, logged lines and thrown errors. */
function hasNoBehaviour(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true;
  if (ts.isThrowStatement(node)) return true;
  if (ts.isNewExpression(node)) return /Error$/.test(node.expression.getText());
  if (!ts.isExpressionStatement(node)) return false;
  return /^(?:this\.|options\.)?#?(?:log|logger|console)\b|\bunref\(\)/.test(node.getText());
}

/** Returns true for a string that decides something: a word without spaces that is not in a message. */
function isValue(node: ts.StringLiteral): boolean {
  const { parent, text } = node;
  if (isName(node) || !/[a-z]/i.test(text) || /\s/.test(text)) return false;
  if (ts.isImportTypeNode(parent) || ts.isExternalModuleReference(parent)) return false;
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) {
    const callee = parent.expression;
    return callee.kind !== ts.SyntaxKind.ImportKeyword && !message.test(callee.getText());
  }
  // In `a === 'b'`, another mutant flips the comparison.
  if (ts.isBinaryExpression(parent) && /^[!=]==$/.test(parent.operatorToken.getText()))
    return false;
  if (ts.isPropertyAssignment(parent)) return !message.test(parent.name.getText());
  return true;
}

/** Returns true for a member of an object whose members are all `true`, so that only the names matter. */
function isListed(node: ts.Node): boolean {
  const { parent } = node;
  if (!ts.isPropertyAssignment(node) || !ts.isObjectLiteralExpression(parent)) return false;
  const { properties } = parent;
  return (
    properties.length > 1 &&
    properties.every(
      (each) =>
        ts.isPropertyAssignment(each) && each.initializer.kind === ts.SyntaxKind.TrueKeyword,
    )
  );
}

/** Returns true for a list of the type `OptionNames`, for which the compiler reports a dropped name. */
function isCompiled(node: ts.Node): boolean {
  let at = node.parent;
  while (!ts.isStatement(at) && !ts.isVariableDeclaration(at)) at = at.parent;
  return ts.isVariableDeclaration(at) && at.type?.getText().startsWith('OptionNames<') === true;
}

/** Returns true for the name of a field, such as `'a-b'` in `{ 'a-b': 1 }`. */
function isName(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isBindingElement(parent) && parent.propertyName === node) return true;
  return 'name' in parent && parent.name === node;
}

/** Returns true for an array that is assigned to, as in `[a, b] = …` and `for ([a, b] of …)`. */
function isTarget(node: ts.ArrayLiteralExpression): boolean {
  let at: ts.Node = node;
  while (!ts.isStatement(at)) {
    const { parent } = at;
    if (ts.isBinaryExpression(parent) && parent.left === at) {
      return isAssignment(parent.operatorToken);
    }
    if (ts.isForOfStatement(parent)) return parent.initializer === at;
    at = parent;
  }
  return false;
}

/** Returns true for a value that has a mutant of its own, or that `undefined` would hardly change. */
function isPlain(expression: ts.Expression): boolean {
  return (
    ts.isArrayLiteralExpression(expression) ||
    ts.isLiteralExpression(expression) ||
    [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(expression.kind) ||
    expression.getText() === 'undefined' ||
    expression.getText() === 'this'
  );
}

function brief(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= 90 ? line : `${line.slice(0, 60)} … ${line.slice(-25)}`;
}
