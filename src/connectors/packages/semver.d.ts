declare const semver: {
  valid(version: string): string | null;
  validRange(range: string): string | null;
  maxSatisfying(versions: readonly string[], range: string): string | null;
};
export default semver;
