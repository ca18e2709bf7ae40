import type { Decoding } from './decoding.js';

/**
 * A Go type as `encoding/json` reads and writes it. Decoding a value returns the JSON that the real
 * server returns for the stored value: zero values omitted, times and quantities in canonical form,
 * struct fields in Go's order.
 */
export interface GoType {
  /** The name in Go's messages: `int32`, `v1.PullPolicy`, `[]v1.Container`. */
  readonly name: string;
  /**
   * Decodes a value other than null or undefined into new objects.
   * @throws DecodeError the value is of another type.
   */
  decode(value: unknown, at: Decoding): unknown;
  /** Returns the JSON of a field without a value, if the field must be written. */
  zero(): unknown;
  /** Returns whether `omitempty` omits this decoded value. */
  isEmpty(value: unknown): boolean;
}
