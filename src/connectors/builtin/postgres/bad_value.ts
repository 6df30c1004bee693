export { BadValue } from "../shared/bad_value.ts";
