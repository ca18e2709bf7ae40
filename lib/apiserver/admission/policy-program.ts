import type { CelProgram } from '../../crd/cel/program.js';
import { compileCel } from '../../crd/cel/program.js';
import { dynType, structType } from '../../crd/cel/types.js';
import type { CelType } from '../../crd/cel/types.js';
import { CelError } from '../../crd/cel/values.js';
import type { CelMap, CelValue } from '../../crd/cel/values.js';
import { admissionVariables } from './admission-cel.js';

/** The values of an expression's variables. */
export type PolicyValues = Readonly<Record<string, CelValue>>;

/** A variable of a policy: `variables` of its spec. */
export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

/** Compiles the expressions of one policy, which share its variables. */
export class PolicyPrograms {
  readonly #types: Map<string, CelType>;
  readonly #variables: readonly { readonly name: string; readonly program: CelProgram }[];

  /**
   * Compiles the variables.
   * @throws CelCompileError a variable cannot be compiled.
   */
  constructor(variables: readonly PolicyVariable[]) {
    this.#types = new Map([...admissionVariables, ['params', dynType]]);
    const fields = new Map<string, CelType>();
    this.#variables = variables.map(({ name, expression }) => {
      this.#types.set('variables', structType('kubernetes.variables', new Map(fields)));
      const program = compileCel(expression, this.#types);
      fields.set(name, program.type);
      return { name, program };
    });
    this.#types.set('variables', structType('kubernetes.variables', fields));
  }

  /**
   * Compiles an expression.
   * @throws CelCompileError
   */
  compile(expression: string): CelProgram {
    return compileCel(expression, this.#types);
  }

  /** Returns `values` with the policy's variables, each computed at its first use. */
  withVariables(values: PolicyValues): PolicyValues {
    const all: Record<string, CelValue> = { ...values };
    const programs = new Map(this.#variables.map(({ name, program }) => [name, program]));
    all['variables'] = new LazyVariables(programs, all);
    return all;
  }
}

class LazyVariables implements CelMap {
  readonly isMap = true;
  readonly #programs: ReadonlyMap<string, CelProgram>;
  readonly #values: PolicyValues;
  readonly #known = new Map<string, CelValue>();

  constructor(programs: ReadonlyMap<string, CelProgram>, values: PolicyValues) {
    this.#programs = programs;
    this.#values = values;
  }

  get size(): number {
    return this.#programs.size;
  }

  keys(): readonly CelValue[] {
    return [...this.#programs.keys()];
  }

  get(key: CelValue): CelValue | undefined {
    const name = typeof key === 'string' ? key : '';
    const program = this.#programs.get(name);
    if (program === undefined) return undefined;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    try {
      const value = program.evaluate(this.#values);
      this.#known.set(name, value);
      return value;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw new CelError(`composited variable "${name}" fails to evaluate: ${error.message}`);
    }
  }
}
