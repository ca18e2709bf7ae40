import { OperatorError } from '../system/index.js';
import { labelValueProblem, qualifiedNameProblem } from './names.js';

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
 * Parses a selector in the query format: `app=web,tier in (a,b),!legacy,size>3`. An empty text selects
 * everything.
 * @returns the requirements, all of which must hold, sorted by key
 * @throws OperatorError `InvalidSelector`
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  return sorted(parseSelectorText(text).map((requirement) => checked(requirement, text)));
}

/**
 * Returns the requirements of a selector object. An empty object selects everything.
 * @throws OperatorError `InvalidSelector`
 */
export function labelRequirementsOf(selector: LabelSelector): readonly LabelRequirement[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const equal = Object.entries(matchLabels).map(([key, value]): LabelRequirement => ({
    key,
    operator: 'In',
    values: [value],
  }));
  const text = JSON.stringify(selector);
  const expressions = matchExpressions.map(({ key, operator, values = [] }): LabelRequirement => {
    if (!isSetOperator(operator)) {
      const want = 'want In, NotIn, Exists or DoesNotExist';
      throw new OperatorError(
        'InvalidSelector',
        `${text}: operator ${operator} of ${key}: ${want}`,
      );
    }
    return { key, operator, values };
  });
  return sorted([...equal, ...expressions].map((requirement) => checked(requirement, text)));
}

/**
 * Whether the selector matches `labels`. For many objects parse once and pass the requirements.
 * @param selector - requirements, a query, or a selector object. As everywhere in Kubernetes, an empty
 * selector matches everything and a missing one (undefined) nothing.
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
 * Formats a selector as a query, with sorted keys; the inverse of {@link parseLabelSelector}.
 * @throws OperatorError `InvalidSelector`
 */
export function formatLabelSelector(selector: LabelSelector | readonly LabelRequirement[]): string {
  return requirementsOf(selector).map(formatRequirement).join(',');
}

function requirementsOf(
  selector: string | LabelSelector | readonly LabelRequirement[],
): readonly LabelRequirement[] {
  if (typeof selector === 'string') return parseLabelSelector(selector);
  return isRequirements(selector) ? selector : labelRequirementsOf(selector);
}

// `Array.isArray` does not narrow readonly arrays out of a union.
function isRequirements(
  selector: LabelSelector | readonly LabelRequirement[],
): selector is readonly LabelRequirement[] {
  return Array.isArray(selector);
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

// Exact for 64 bits, as on the API server; labels do not exceed that.
function integerOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?[0-9]+$/.test(text)
    ? BigInt(text.replace(/^\+/, ''))
    : undefined;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return values.length === 1 ? `${key}=${values[0] ?? ''}` : `${key} in (${values.join(',')})`;
    case 'NotIn':
      return values.length === 1
        ? `${key}!=${values[0] ?? ''}`
        : `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'Gt':
      return `${key}>${values[0] ?? ''}`;
    case 'Lt':
      return `${key}<${values[0] ?? ''}`;
  }
}

function checked(requirement: LabelRequirement, selector: string): LabelRequirement {
  const { key, operator, values } = requirement;
  const refuse = (why: string): never => {
    throw new OperatorError('InvalidSelector', `label selector ${selector}: ${why}`);
  };
  const keyProblem = qualifiedNameProblem(key);
  if (keyProblem !== undefined) refuse(`key ${key}: ${keyProblem}`);
  for (const value of values) {
    const valueProblem = labelValueProblem(value);
    if (valueProblem !== undefined) refuse(`value of ${key}: ${valueProblem}`);
  }
  const countProblem = valueCountProblem(operator, values);
  if (countProblem !== undefined) refuse(`${key} ${operator}: ${countProblem}`);
  return { key, operator, values: [...new Set(values)].sort() };
}

function valueCountProblem(operator: LabelOperator, values: readonly string[]): string | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? undefined : 'wants at least one value';
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? undefined : 'takes no values';
    case 'Gt':
    case 'Lt':
      return values.length === 1 && integerOf(values[0]) !== undefined
        ? undefined
        : 'wants one integer';
  }
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

/**
 * Parses the grammar of label selectors without validating keys and values.
 * @throws OperatorError `InvalidSelector`
 */
function parseSelectorText(text: string): LabelRequirement[] {
  return new SelectorParser(text).parse();
}

class SelectorParser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().type === 'end') return requirements;
    do requirements.push(this.#requirement());
    while (this.#accept(','));
    if (this.#peek().type !== 'end') this.#refuse("',' or the end");
    return requirements;
  }

  #requirement(): LabelRequirement {
    if (this.#accept('!'))
      return { key: this.#word('a key'), operator: 'DoesNotExist', values: [] };
    const key = this.#word("a key or '!'");
    const next = this.#peek();
    if (next.type === 'end' || next.text === ',') return { key, operator: 'Exists', values: [] };
    this.#position++;
    if (next.text === 'in') return { key, operator: 'In', values: this.#set() };
    if (next.text === 'notin') return { key, operator: 'NotIn', values: this.#set() };
    const operator = next.type === 'symbol' ? comparisons[next.text] : undefined;
    if (operator === undefined) {
      this.#position--;
      this.#refuse('an operator (=, ==, !=, in, notin, <, >)');
    }
    return { key, operator, values: [this.#optionalWord()] };
  }

  #set(): string[] {
    if (!this.#accept('(')) this.#refuse("'('");
    const values: string[] = [];
    do values.push(this.#optionalWord());
    while (this.#accept(','));
    if (!this.#accept(')')) this.#refuse("',' or ')'");
    return values;
  }

  /** The empty string is a valid label value: `a=`, `a in (b,)`. */
  #optionalWord(): string {
    return this.#peek().type === 'word' ? this.#word('a value') : '';
  }

  #word(wanted: string): string {
    const token = this.#peek();
    if (token.type !== 'word') this.#refuse(wanted);
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
    const { type, text } = this.#peek();
    const found = type === 'end' ? 'the end' : `'${text}'`;
    const message = `label selector ${this.#text}: found ${found}, want ${wanted}`;
    throw new OperatorError('InvalidSelector', message);
  }
}

// Every character except blanks belongs to a token, so only trailing blanks are skipped.
function tokensOf(text: string): Token[] {
  return [...text.matchAll(new RegExp(tokenPattern, 'gy'))].map(([, symbol, word = '']) =>
    symbol === undefined ? { type: 'word', text: word } : { type: 'symbol', text: symbol },
  );
}
