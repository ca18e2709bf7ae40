import { quoted } from './go-text.js';
import { isJsonObject } from './json.js';
import { jsonOrInspected, OperatorError } from '../system/index.js';
import { labelValueProblems, qualifiedNameProblems } from './name-problems.js';

/** The operator of a {@link LabelRequirement}. `Gt` and `Lt` compare integers. */
export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** One condition on an object's labels. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without duplicates. Empty for `Exists` and `DoesNotExist`, one value for `Gt` and `Lt`. */
  readonly values: readonly string[];
}

/** A selector in an object (metav1.LabelSelector), for example in `spec.selector`. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorExpression[] | undefined;
}

/** One of the `matchExpressions` of a {@link LabelSelector}. */
export interface LabelSelectorExpression {
  readonly key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/**
 * Parses a selector in the query format: `app=web,tier in (a,b),!legacy,size>3`. An empty string selects
 * everything.
 * @returns the requirements, all of which must hold, sorted by key
 * @throws OperatorError `InvalidSelector`
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  return text === '' ? [] : sorted(new SelectorParser(text).parse());
}

/**
 * Returns the requirements of a query or a selector object. An empty one selects everything.
 * @throws OperatorError `InvalidSelector`
 */
export function labelRequirementsOf(selector: string | LabelSelector): readonly LabelRequirement[] {
  if (typeof selector === 'string') return parseLabelSelector(selector);
  const text = `label selector ${jsonOrInspected(selector)}`;
  const problem = shapeProblem(selector);
  if (problem !== undefined) throw invalidSelector(text, problem);
  // A null of an object's JSON counts as absent, as on the API server.
  const { matchLabels, matchExpressions } = selector;
  const equal = Object.entries(matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
    key,
    operator: 'In',
    values: [value],
  }));
  const expressions = (matchExpressions ?? []).map((expression): LabelRequirement => {
    const { key, operator, values } = expression;
    if (!isSetOperator(operator)) {
      const want = 'want In, NotIn, Exists or DoesNotExist';
      throw invalidSelector(text, `operator ${operator} of ${key}: ${want}`);
    }
    return { key, operator, values: values ?? [] };
  });
  return sorted([...equal, ...expressions].map((requirement) => checked(requirement, text)));
}

/**
 * Whether the selector matches `labels`. To match many objects, parse the selector before and pass the requirements.
 * @param selector - requirements, a query, or a selector object. As everywhere in Kubernetes, an empty selector matches
 * everything and a missing one (undefined) nothing.
 * @throws OperatorError `InvalidSelector`
 */
export function matchesLabels(
  selector: string | LabelSelector | readonly LabelRequirement[] | undefined,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  if (selector === undefined) return false;
  return requirementsOf(selector).every((requirement) => holds(requirement, labels));
}

/**
 * Formats a selector as a query, with sorted keys; the inverse of {@link parseLabelSelector}. A query stays
 * as it is.
 * @throws OperatorError `InvalidSelector`
 */
export function formatLabelSelector(
  selector: string | LabelSelector | readonly LabelRequirement[],
): string {
  if (typeof selector === 'string') return selector;
  return requirementsOf(selector).map(formatRequirement).join(',');
}

function requirementsOf(
  selector: string | LabelSelector | readonly LabelRequirement[],
): readonly LabelRequirement[] {
  return isRequirements(selector) ? selector : labelRequirementsOf(selector);
}

// `Array.isArray` does not narrow readonly arrays out of a union.
function isRequirements(
  selector: string | LabelSelector | readonly LabelRequirement[],
): selector is readonly LabelRequirement[] {
  return Array.isArray(selector);
}

/** Returns the problem of a selector object that has a wrong form, since TypeScript does not check all callers. */
function shapeProblem(selector: LabelSelector): string | undefined {
  if (!isJsonObject(selector)) return 'want a string or an object';
  const { matchLabels, matchExpressions, ...others } = selector;
  // Refuses labels in place of a selector: without `matchLabels` around them, they would select every object.
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    return `unknown field ${unknown}; put labels into matchLabels or matchExpressions`;
  }
  const given: unknown = matchLabels ?? {};
  if (!isJsonObject(given)) return 'matchLabels: want an object';
  const wrong = Object.entries(given).find(([, value]) => !isText(value));
  if (wrong !== undefined) {
    return `matchLabels: want strings as values, got ${typeof wrong[1]} for ${wrong[0]}`;
  }
  const expressions: unknown = matchExpressions ?? [];
  if (!Array.isArray(expressions)) return 'matchExpressions: want a list';
  return expressions.every(isExpression)
    ? undefined
    : 'matchExpressions: want objects with key, operator and a list of strings as values';
}

function isExpression(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { key, operator, values } = value;
  const given = values ?? [];
  return isText(key) && isText(operator) && Array.isArray(given) && given.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isSetOperator(operator: string): operator is 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' {
  return ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);
}

function holds(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const [limit, actual] = [integerOf(values[0]), integerOf(value)];
      if (limit === undefined || actual === undefined) return false;
      return operator === 'Gt' ? actual > limit : actual < limit;
    }
  }
}

/** Parses an integer of 64 bits as the API server does; undefined if `text` is not one. */
function integerOf(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const integer = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  const [value = ''] = values;
  const isOne = values.length === 1;
  switch (operator) {
    case 'In':
      return isOne ? `${key}=${value}` : `${key} in (${values.join(',')})`;
    case 'NotIn':
      return isOne ? `${key}!=${value}` : `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'Gt':
      return `${key}>${value}`;
    case 'Lt':
      return `${key}<${value}`;
  }
}

/** @throws OperatorError `InvalidSelector`: as the API server, with all problems of the requirement. */
function checked(requirement: LabelRequirement, selector: string): LabelRequirement {
  const { key, operator } = requirement;
  const values = [...new Set(requirement.values)].sort();
  const problems = [...keyProblems(key, 'key'), ...valueProblems({ key, operator, values })];
  if (problems.length > 0) throw invalidSelector(selector, inBrackets(problems));
  return { key, operator, values };
}

function keyProblems(key: string, field: string): readonly string[] {
  const problems = qualifiedNameProblems(key);
  if (problems.length === 0) return [];
  return [`${field}: Invalid value: ${quoted(key)}: ${problems.join('; ')}`];
}

function valueProblems({ key, operator, values }: LabelRequirement): readonly string[] {
  const counted = valueCountProblem(operator, values);
  const integral = isComparison(operator) && values.length === 1;
  const each = values.flatMap((value, index) => {
    const shown = `Invalid value: ${quoted(value)}`;
    const problems = labelValueProblems(value);
    return [
      ...(integral && integerOf(value) === undefined
        ? [`values[${index}]: ${shown}: for 'Gt', 'Lt' operators, the value must be an integer`]
        : []),
      ...(problems.length === 0
        ? []
        : [`values[${index}][${key}]: ${shown}: ${problems.join('; ')}`]),
    ];
  });
  return counted === undefined ? each : [`values: ${counted}`, ...each];
}

function valueCountProblem(operator: LabelOperator, values: readonly string[]): string | undefined {
  if (isComparison(operator)) {
    return values.length === 1
      ? undefined
      : "Invalid value: for 'Gt', 'Lt' operators, exactly one value is required";
  }
  if (operator === 'In' || operator === 'NotIn') {
    return values.length > 0
      ? undefined
      : "Invalid value: for 'in', 'notin' operators, values set can't be empty";
  }
  return values.length === 0
    ? undefined
    : 'Invalid value: values set must be empty for exists and does not exist';
}

function isComparison(operator: LabelOperator): boolean {
  return operator === 'Gt' || operator === 'Lt';
}

/** Several problems are in brackets, as in the API server's messages. */
function inBrackets(problems: readonly string[]): string {
  const joined = problems.join(', ');
  return problems.length === 1 ? joined : `[${joined}]`;
}

/** Returns the error for an invalid selector. Its cause has the message of the API server alone. */
export function invalidSelector(what: string, problem: string): OperatorError {
  return new OperatorError('InvalidSelector', `${what}: ${problem}`, { cause: new Error(problem) });
}

function sorted(requirements: readonly LabelRequirement[]): readonly LabelRequirement[] {
  return requirements.toSorted((one, other) =>
    one.key < other.key ? -1 : one.key > other.key ? 1 : 0,
  );
}

/*
 * selector    = [ requirement *( "," requirement ) ]
 * requirement = "!" key | key [ ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | ( "in" | "notin" ) set ]
 * set         = "(" [ value ] *( "," [ value ] ) ")"
 *
 * Blanks only separate tokens. `in` and `notin` are operators only in the operator's position: both are
 * valid label keys and values.
 */
type Token = { readonly type: 'word' | 'symbol' | 'end'; readonly text: string };

const tokenPattern = /[ \t\r\n]*(?:(==|!=|[=!<>(),])|([^ \t\r\n=!<>(),]+))/y;

const comparisons: Readonly<Partial<Record<string, LabelOperator>>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
};

/** Parses the grammar of label selectors. Its messages are the API server's. */
class SelectorParser {
  readonly #what: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#what = `label selector ${text}`;
    this.#tokens = tokensOf(text);
  }

  /** @throws OperatorError `InvalidSelector` */
  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    let wanted = "!, identifier, or 'end of string'";
    while (requirements.length > 0 || !this.#isAtEnd()) {
      if (!this.#beginsRequirement()) this.#refuse(wanted);
      requirements.push(this.#requirement());
      if (this.#isAtEnd()) break;
      if (!this.#accept(',')) this.#refuse("',' or 'end of string'");
      wanted = "identifier after ','";
    }
    return requirements;
  }

  #isAtEnd(): boolean {
    return this.#peek().type === 'end';
  }

  #beginsRequirement(): boolean {
    const { type, text } = this.#peek();
    return type === 'word' || (type === 'symbol' && text === '!');
  }

  #requirement(): LabelRequirement {
    try {
      return checked(this.#uncheckedRequirement(), this.#what);
    } catch (error) {
      const { message } = (error as OperatorError).cause as Error;
      throw invalidSelector(this.#what, `unable to parse requirement: ${message}`);
    }
  }

  #uncheckedRequirement(): LabelRequirement {
    const isAbsence = this.#accept('!');
    const key = this.#word();
    // A key in a selector string has no field path; the API server's message shows `<nil>` in its place.
    const [problem] = keyProblems(key, '<nil>');
    if (problem !== undefined) throw invalidSelector(this.#what, problem);
    if (isAbsence) return { key, operator: 'DoesNotExist', values: [] };
    const next = this.#peek();
    if (next.type === 'end' || next.text === ',') return { key, operator: 'Exists', values: [] };
    if (next.text === 'in' || next.text === 'notin') {
      this.#position++;
      return { key, operator: next.text === 'in' ? 'In' : 'NotIn', values: this.#set() };
    }
    const operator = next.type === 'symbol' ? comparisons[next.text] : undefined;
    if (operator === undefined) this.#refuse('in, notin, =, ==, !=, gt, lt');
    this.#position++;
    return { key, operator, values: [this.#exactValue()] };
  }

  /** The empty string is a valid label value: `a=`, `a in (b,)`. */
  #set(): string[] {
    if (!this.#accept('(')) throw this.#unexpected(" expected: '('");
    const values: string[] = [];
    let wanted = "',', ')' or identifier";
    for (;;) {
      const isWord = this.#peek().type === 'word';
      values.push(isWord ? this.#word() : '');
      if (this.#accept(')')) return values;
      if (!this.#accept(',')) this.#refuse(isWord ? "',' or ')'" : wanted);
      wanted = "',', or identifier";
    }
  }

  #exactValue(): string {
    const { type, text } = this.#peek();
    return type === 'end' || (type === 'symbol' && text === ',') ? '' : this.#word();
  }

  #word(): string {
    const token = this.#peek();
    if (token.type !== 'word') this.#refuse('identifier');
    this.#position++;
    return token.text;
  }

  #accept(symbol: string): boolean {
    const token = this.#peek();
    const found = token.type === 'symbol' && token.text === symbol;
    if (found) this.#position++;
    return found;
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? { type: 'end', text: '' };
  }

  #refuse(wanted: string): never {
    throw this.#unexpected(`, expected: ${wanted}`);
  }

  #unexpected(wanted: string): OperatorError {
    return invalidSelector(this.#what, `found '${this.#peek().text}'${wanted}`);
  }
}

// Every character except blanks belongs to a token, so only trailing blanks are skipped.
function tokensOf(text: string): Token[] {
  return [...text.matchAll(new RegExp(tokenPattern, 'gy'))].map(([, symbol, word = '']) =>
    symbol === undefined ? { type: 'word', text: word } : { type: 'symbol', text: symbol },
  );
}
