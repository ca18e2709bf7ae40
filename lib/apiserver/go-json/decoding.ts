/** A body does not fit the Go type that the real server decodes it into: 400. */
export class DecodeError extends Error {}

/** The state of a decoder: its path in the document, and the unknown fields so far. */
export class Decoding {
  /** JSON paths of unknown fields, in the order of the document. */
  readonly unknownFields: string[] = [];
  /** The Go struct of the current field, for Go's messages. */
  structName = '';
  readonly #path: string[] = [];
  readonly #goPath: string[] = [];

  /** Enters a field. `goPath` includes the names of embedded structs. */
  enterField(name: string, goPath: readonly string[]): void {
    this.#path.push(this.#path.length === 0 ? name : `.${name}`);
    this.#goPath.push(...goPath);
  }

  leaveField(goPath: readonly string[]): void {
    this.#path.pop();
    this.#goPath.length -= goPath.length;
  }

  enterItem(index: number): void {
    this.#path.push(`[${index}]`);
  }

  enterKey(key: string): void {
    this.#path.push(`.${key}`);
  }

  leave(): void {
    this.#path.pop();
  }

  unknown(name: string): void {
    const path = this.#path.join('');
    this.unknownFields.push(path === '' ? name : `${path}.${name}`);
  }

  /**
   * Returns the error for a value of the wrong type: `json: cannot unmarshal string into Go struct
   * field DeploymentSpec.spec.replicas of type int32`.
   */
  mismatch(value: unknown, goType: string): DecodeError {
    const shown = jsonTypeName(value);
    const precise = typeof value === 'number' && !/^float/.test(goType) && isNumeric(goType);
    const got = precise ? `number ${value}` : shown;
    const where =
      this.#goPath.length === 0
        ? 'Go value'
        : `Go struct field ${this.structName}.${this.#goPath.join('.')}`;
    return new DecodeError(`json: cannot unmarshal ${got} into ${where} of type ${goType}`);
  }
}

function isNumeric(goType: string): boolean {
  return /^u?int\d*$/.test(goType);
}

/** Returns Go's name of a JSON value's type. */
export function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
