export { FieldErrors } from '../../crd/validation/field-errors.js';
