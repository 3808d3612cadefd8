"""Small trainings whose profiles are compared: each is a script that `tf2npu run --profile DIR` runs."""
