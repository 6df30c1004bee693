export { BadValue, refusedValue } from "../shared/bad_value.ts";
