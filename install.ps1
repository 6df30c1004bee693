<#
Installs pz for the user who runs this, on Windows x64:

    powershell -ExecutionPolicy Bypass -File install.ps1 [-Version 0.1.0]

PZ_VERSION      the version, in place of -Version; the newest release without either
PZ_INSTALL_DIR  where pz.exe goes; %LOCALAPPDATA%\Programs\pz without it
PZ_BASE_URL     where the releases are, or a mirror of them laid out the same way

What is installed has the SHA-256 of the release's SHA256SUMS. Nothing is changed until it has arrived whole.
#>
param([string]$Version = $env:PZ_VERSION)

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'  # drawing it slows a download down many times

function Stop-Install([string]$Message, [string]$Hint) {
  [Console]::Error.WriteLine("pz was not installed: $Message")
  if ($Hint) { [Console]::Error.WriteLine("hint: $Hint") }
  exit 1
}

function Get-ReleaseFile([string]$Address, [string]$Path) {
  try {
    Invoke-WebRequest -UseBasicParsing -Uri $Address -OutFile $Path
  } catch {
    Stop-Install "can't download ${Address}: $($_.Exception.Message)" `
      'look whether this address opens in a browser, and whether a proxy is needed'
  }
}

# A 32-bit shell on a 64-bit system sees the system's processor in the second variable.
$machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
# Windows on ARM runs programs for x64.
if ($machine -ne 'AMD64' -and $machine -ne 'ARM64') {
  Stop-Install "there is no pz for Windows on $machine" 'pz is built for x64'
}
$target = 'win32-x64'

# Windows PowerShell offers servers only older protocols by itself.
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$base = if ($env:PZ_BASE_URL) { $env:PZ_BASE_URL } else { 'https://github.com/pz-data/pz/releases' }
$base = $base.TrimEnd('/')
$Version = "$Version" -replace '^v', ''
$from = if ($Version) { "$base/download/v$Version" } else { "$base/latest/download" }
$folder = if ($env:PZ_INSTALL_DIR) { $env:PZ_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\pz' }
$place = Join-Path $folder 'pz.exe'

# On the same drive as the place it goes to, so that the last step is one rename.
$aside = Join-Path $folder ".pz-install.$([Guid]::NewGuid().ToString('N'))"
try {
  New-Item -ItemType Directory -Force -Path $aside | Out-Null
} catch {
  Stop-Install "'$folder' can't be written" 'set PZ_INSTALL_DIR to a folder of your own'
}
try {
  $sums = Join-Path $aside 'SHA256SUMS'
  Get-ReleaseFile "$from/SHA256SUMS" $sums
  $pattern = "^([0-9a-f]{64})  (pz-[0-9][0-9A-Za-z.+-]*-$target\.exe)$"
  $found = @(Get-Content $sums | Where-Object { $_ -cmatch $pattern })
  if ($found.Count -ne 1) {
    Stop-Install "$from/SHA256SUMS doesn't name one file for $target" 'choose another version, or tell the project'
  }
  $expected, $name = $found[0] -split '  ', 2
  $new = Join-Path $aside 'pz.exe'
  Get-ReleaseFile "$from/$name" $new
  $actual = (Get-FileHash -Algorithm SHA256 -Path $new).Hash.ToLowerInvariant()
  if ($actual -cne $expected) {
    Stop-Install "$name arrived damaged: its SHA-256 is '$actual', expected '$expected'" `
      "run this again; if it stays so, don't use the file and tell the project"
  }
  $said = & $new --version
  if ($LASTEXITCODE -ne 0) { Stop-Install "$name doesn't start here" 'it needs Windows 10 or newer' }

  # A program that runs can be renamed but not replaced: what is there steps aside, and comes back if the rest fails.
  $old = Join-Path $aside 'old.exe'
  $had = Test-Path -LiteralPath $place
  try {
    if ($had) { [IO.File]::Move($place, $old) }
    [IO.File]::Move($new, $place)
  } catch {
    if ($had -and -not (Test-Path -LiteralPath $place)) { [IO.File]::Move($old, $place) }
    Stop-Install "'$place' can't be replaced: $($_.Exception.Message)" 'end every pz that runs, then run this again'
  }
  Write-Output "pz $said is installed as $place"

  $path = [Environment]::GetEnvironmentVariable('Path', 'User')
  if (-not (";$path;" -like "*;$folder;*")) {
    [Environment]::SetEnvironmentVariable('Path', "$folder;$path", 'User')
    Write-Output "$folder was added to your PATH; open a new terminal to use it"
  }
} finally {
  # A replaced pz that still runs can't be deleted; its folder stays and does no harm.
  Remove-Item -Recurse -Force -Path $aside -ErrorAction SilentlyContinue
}
